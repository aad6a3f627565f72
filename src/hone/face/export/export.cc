#include "hone/face/export/export.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/face/export/plan_code.h"
#include "hone/face/export/source_text.h"

namespace hone::face {
namespace {

using kernel::Kernel;

/// `text` as lines of a // comment: the first begins with `head`, the others with as many blanks.
std::string comment(std::string_view head, std::string_view text) {
  std::string out;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string line(text.substr(start, end - start));
    std::replace_if(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    // A backslash at the end would make the next line part of the comment.
    while (!line.empty() && (line.back() == ' ' || line.back() == '\\')) line.pop_back();
    std::string row = fmt::format("// {}{}", out.empty() ? std::string(head) : std::string(head.size(), ' '), line);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
    start = end + 1;
  }
  return out;
}
/// One line of what is known; nothing where it is not.
std::string fact(std::string_view name, std::string_view text) {
  if (text.empty()) return {};
  return comment(fmt::format("  {:<10}", name), text);
}

bool is_identifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

Result<std::string> function_name(const ExportOptions& options, const task::Task& task) {
  if (!options.name.empty()) {
    if (is_identifier(options.name)) return options.name;
    return fail(ErrorCode::kInput, fmt::format("\"{}\" is no C++ identifier", options.name),
                "the function is named so: letters, digits and _");
  }
  std::string name = task.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return is_identifier(name) ? name : "kernel_" + name;
}

Status check_space(const std::string& space) {
  for (size_t start = 0;;) {
    const size_t end = std::min(space.find("::", start), space.size());
    if (!is_identifier(std::string_view(space).substr(start, end - start)))
      return fail(ErrorCode::kInput, fmt::format("\"{}\" is no C++ namespace", space), "such as \"kernels\" or \"a::b\"");
    if (end == space.size()) return {};
    start = end + 2;
  }
}

/// What the compiler must define for the code to be what was verified; empty: nothing to check.
struct Isa {
  std::string name, condition;
};
Isa isa_of(std::string_view isa) {
  if (isa == "avx512")
    return {"AVX-512", "defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)"};
  if (isa == "avx2") return {"AVX2", "defined(__AVX2__)"};
  if (isa == "neon") return {"NEON", "defined(__ARM_NEON)"};
  return {};
}

/// Files put one behind the other, each once, what it includes before it.
class Amalgamation {
 public:
  explicit Amalgamation(Outside outside) : outside_(std::move(outside)) {}

  Status add(std::string_view prefix, const std::string& name) {
    if (!seen_.insert(name).second) return {};
    const auto content = base::find_embedded(fmt::format("{}{}", prefix, name));
    if (!content)
      return fail(ErrorCode::kInput, fmt::format("#include \"{}\": hone has no such header", name));
    HONE_TRY(MovedSource moved, move_source(*content, name, {}, outside_));
    for (const std::string& needed : moved.hone) HONE_TRY_VOID(add(prefix, needed));
    const size_t first = moved.text.find_first_not_of('\n');
    if (first != std::string::npos)
      text += fmt::format("// ---- {}\n{}\n", name, moved.text.substr(first));
    note(moved);
    return {};
  }
  /// Includes and macros of a source that is placed elsewhere.
  void note(const MovedSource& moved) {
    system.insert(moved.system.begin(), moved.system.end());
    macros.insert(macros.end(), moved.macros.begin(), moved.macros.end());
  }

  std::string text;
  std::set<std::string> system;
  std::vector<std::string> macros;

 private:
  Outside outside_;
  std::set<std::string> seen_;
};

std::string undefine(const std::vector<std::string>& macros) {
  std::string text;
  for (const std::string& macro : macros) text += fmt::format("#undef {}\n", macro);
  return text;
}

/// One kernel as it stands in the source file.
struct Part {
  std::string text;  ///< its namespace and its plan
  PlanCode plan;
};

class Exporter {
 public:
  Exporter(const Kernel& kernel, const task::Task& task, const std::optional<Kernel>& fallback,
           const ExportOptions& options, std::string name)
      : kernel_(kernel), task_(task), fallback_(fallback), options_(options), name_(std::move(name)),
        detail_(name_ + "_detail"), names_(task, taken()),
        device_({"}  // namespace\n}  // namespace", fmt::format("namespace {}::{} {{\nnamespace {{", options.space, detail_)}) {}

  Result<std::vector<ExportedFile>> files() {
    HONE_TRY(const Part main, part(kernel_, "kernel", "kernel " + kernel_.hash().substr(0, 12)));
    std::optional<Part> other;
    if (fallback_) {
      HONE_TRY(other, part(*fallback_, "fallback", "where that one does not apply: kernel " + fallback_->hash().substr(0, 12)));
    }
    if (needs_device_) HONE_TRY_VOID(device_.add("include/", "hone/cpu.h"));
    HONE_TRY_VOID(add_runtime(main.plan.scratch || (other && other->plan.scratch)));
    return std::vector<ExportedFile>{{name_ + ".h", header(main.plan)}, {name_ + ".cc", source(main, other)}};
  }

 private:
  [[nodiscard]] bool pooled() const { return options_.threads == ExportThreads::kPool; }

  [[nodiscard]] std::set<std::string> taken() const {
    std::set<std::string> taken{name_, name_ + "_applies", detail_, "kernel", "fallback"};
    for (const auto& [tunable, value] : kernel_.config) taken.insert(tunable);
    if (fallback_)
      for (const auto& [tunable, value] : fallback_->config) taken.insert(tunable);
    return taken;
  }

  /// The kernel in a namespace of its own, `label`, and the two functions of its plan.
  Result<Part> part(const Kernel& kernel, const std::string& label, const std::string& title) {
    if (kernel.header.language != kernel::Language::kCpp)
      return fail(ErrorCode::kInput, fmt::format("a kernel in {} cannot become a C++ header",
                                                 kernel::name_of(kernel.header.language)),
                  "export takes CPU kernels in c++");
    std::set<std::string> functions;
    for (const kernel::Launch& launch : kernel.header.launches) functions.insert(launch.function);
    const std::string space = label == "kernel" ? "kernel" : "fallback";
    const Outside outside{
        fmt::format("}}  // namespace {}\n}}  // namespace\n}}  // namespace", space),
        fmt::format("namespace {}::{} {{\nnamespace {{\nnamespace {} {{", options_.space, detail_, space)};
    HONE_TRY(const MovedSource moved, move_source(kernel.source, label + ".cc", functions, outside));
    device_.system.insert(moved.system.begin(), moved.system.end());
    for (const std::string& header : moved.hone) HONE_TRY_VOID(device_.add("include/", header));
    Part part;
    HONE_TRY(part.plan, write_plan(kernel, task_, names_, options_, space, label));
    const auto pieces = tokenize_cpp(moved.text);
    needs_device_ = needs_device_ || part.plan.half_types || part.plan.vector_bytes || uses_word(pieces, "hone") ||
                    moved.text.find("HONE_") != std::string::npos;

    std::vector<std::string> macros;
    std::string defines;
    for (const auto& [tunable, value] : kernel.config) {
      defines += fmt::format("#define {} {}\n", tunable, value);
      macros.push_back(tunable);
    }
    for (const std::string& symbol : kernel.header.specialise) {
      defines += fmt::format("#define {} INT64_C({})\n", symbol, options_.specialised.find(symbol)->second);
      macros.push_back(symbol);
    }
    macros.insert(macros.end(), moved.macros.begin(), moved.macros.end());
    part.text = fmt::format("// ==== {0}\n\nnamespace {1} {{\n{2}{3}{4}{5}}}  // namespace {1}\n\n{6}\n{7}", title, space,
                            defines, moved.text, moved.text.empty() || moved.text.back() == '\n' ? "" : "\n",
                            undefine(macros), part.plan.applies, part.plan.run);
    return part;
  }

  Status add_runtime(bool scratch) {
    HONE_TRY_VOID(runtime_.add("export/", "integer.h"));
    if (pooled()) HONE_TRY_VOID(runtime_.add("export/", "pool.h"));
    if (scratch) HONE_TRY_VOID(runtime_.add("export/", "scratch.h"));
    return {};
  }

  /// "const float* x, float* y, int64_t B, int64_t D"
  [[nodiscard]] std::string parameters() const {
    std::vector<std::string> all;
    for (const task::InputSpec& input : task_.inputs)
      all.push_back(fmt::format("const {}* {}", public_type(input.type.dtype), names_.tensor(input.name)));
    for (const auto& [name, type] : task_.outputs)
      all.push_back(fmt::format("{}* {}", public_type(type.dtype), names_.tensor(name)));
    for (const std::string& symbol : task_.symbols()) all.push_back("int64_t " + names_.symbol(symbol));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  [[nodiscard]] std::vector<std::string> extents() const {
    std::vector<std::string> all;
    for (const std::string& symbol : task_.symbols()) all.push_back(names_.symbol(symbol));
    return all;
  }

  [[nodiscard]] std::string provenance() const {
    const Provenance& from = options_.provenance;
    const Isa isa = isa_of(options_.isa);
    std::string verified;
    for (const std::string& item : {from.date, from.machine, isa.name, from.toolchain})
      if (!item.empty()) verified += (verified.empty() ? "" : ", ") + item;
    std::string text = fact("task", fmt::format("{}, {}", task_.name, task_.hash()));
    text += fact("kernel", fmt::format("{}{}", kernel_.hash(), kernel_.author.empty() ? "" : ", by " + kernel_.author));
    if (fallback_) text += fact("fall-back", fallback_->hash());
    text += fact("accuracy", fmt::format("track \"{}\"", task::name_of(task_.track)));
    text += fact("verified", verified);
    text += fact("shapes", fmt::format("{}", fmt::join(from.shapes, "\n")));
    text += fact("measured", from.measured);
    return text;
  }

  [[nodiscard]] std::string describe(std::string_view name, std::string_view way, const task::TensorType& type) const {
    std::string text = fmt::format("///   {:<8} {}, {}", name, way, type.to_string());
    if (type.dtype == task::DType::kBF16 || type.dtype == task::DType::kF16) text += ", the bits of each element";
    if (options_.alignment > task::size_of(type.dtype)) text += fmt::format(", aligned to {} bytes", options_.alignment);
    return text + "\n";
  }

  [[nodiscard]] std::string header(const PlanCode& plan) const {
    std::string text = fmt::format("// {}: made by hone, which nothing here depends on. C++17 or later; {}.cc says how to build it.\n//\n",
                                   name_, name_);
    text += provenance();
    text += fmt::format("#pragma once\n#include <stdint.h>\n\nnamespace {} {{\n\n", options_.space);
    std::string compute = comment("      ", task_.compute);
    while (compute.size() > 1 && compute.compare(compute.size() - 3, 3, "//\n") == 0) compute.resize(compute.size() - 3);
    std::string doc = "/// Computes\n";
    for (size_t start = 0; start < compute.size();) {
      const size_t end = compute.find('\n', start) + 1;
      doc += "/" + compute.substr(start, end - start);
      start = end;
    }
    text += doc + "/// Tensors are dense and row-major; outputs overlap nothing else.\n";
    for (const task::InputSpec& input : task_.inputs) text += describe(names_.tensor(input.name), "in", input.type);
    for (const auto& [name, type] : task_.outputs) text += describe(names_.tensor(name), "out", type);
    if (!task_.symbols().empty())
      text += fmt::format("///   {:<8} extents, at least 1\n", fmt::format("{}", fmt::join(extents(), ", ")));
    if (pooled())
      text += "///   threads  how many may work on it, the caller included; 0: as many as the machine has\n";
    const bool aligned = options_.alignment > 0;
    text += fmt::format("/// {} where {}_applies() is false{}.\n", fallback_ ? "A simple kernel takes its place" : "Returns false, with nothing done,",
                        name_, aligned ? " or a pointer is not aligned" : "");
    text += fallback_ ? "/// False, with nothing done, where that does not apply either: an extent below 1.\n" : "";
    text += "/// May be called from any number of threads at once. Memory it works in is kept for each calling\n"
            "/// thread; std::bad_alloc where there is none.\n";
    text += fmt::format("[[nodiscard]] bool {}({}{});\n\n", name_, parameters(),
                        pooled() ? std::string(parameters().empty() ? "" : ", ") + "int threads = 0" : "");
    text += fmt::format("/// True where the kernel that was measured runs: {}.\n",
                        plan.conditions.empty() ? "for all extents that are at least 1" : fmt::format("{}", fmt::join(plan.conditions, ", ")));
    text += fmt::format("[[nodiscard]] bool {}_applies({}{});\n\n}}  // namespace {}\n", name_, extent_parameters(),
                        plan.applies_threads ? std::string(extents().empty() ? "" : ", ") + "int threads = 0" : "",
                        options_.space);
    return text;
  }

  [[nodiscard]] std::string extent_parameters() const {
    std::vector<std::string> all;
    for (const std::string& extent : extents()) all.push_back("int64_t " + extent);
    return fmt::format("{}", fmt::join(all, ", "));
  }

  [[nodiscard]] std::string build_notes() const {
    std::string target = fmt::format("add_library({0} STATIC {0}.cc)\n"
                                     "target_compile_features({0} PUBLIC cxx_std_20)\n"
                                     "target_compile_options({0} PRIVATE {1})\n",
                                     name_, fmt::join(options_.flags, " "));
    if (pooled())
      target += fmt::format("find_package(Threads REQUIRED)\ntarget_link_libraries({} PUBLIC Threads::Threads)\n", name_);
    target += fmt::format("target_include_directories({} PUBLIC .)", name_);
    std::string text = fmt::format("// {}.cc: see {}.h. C++20, g++ 12 or clang++ 16 or later, on a POSIX system:\n//\n", name_, name_);
    text += comment("    ", fmt::format("g++ -std=c++20 {}{} -c {}.cc", fmt::join(options_.flags, " "), pooled() ? " -pthread" : "", name_));
    text += "//\n// with CMake\n//\n" + comment("    ", target);
    text += "//\n// Other flags than these were not verified; -ffast-math would break NaN, infinity and accuracy.\n//\n";
    return text + provenance();
  }

  [[nodiscard]] std::string source(const Part& main, const std::optional<Part>& other) const {
    std::set<std::string> system = device_.system;
    system.insert(runtime_.system.begin(), runtime_.system.end());
    system.insert({"<stdint.h>", "<stddef.h>", "<string.h>"});
    std::string text = build_notes() + fmt::format("#include \"{}.h\"\n\n", name_);
    for (const std::string& file : system) text += fmt::format("#include {}\n", file);
    if (const Isa isa = isa_of(options_.isa); !isa.condition.empty())
      text += fmt::format("\n#if !({})\n#warning \"{} was verified and measured with {}, which these compiler flags leave out\"\n#endif\n",
                          isa.condition, name_, isa.name);
    // Kernels and device headers are compiled by hone without these warnings; the rest has to stand them.
    text += "\n#pragma GCC diagnostic push\n";
    for (const std::string_view warning :
         {"-Wpsabi", "-Wignored-attributes", "-Wunused-function", "-Wunused-variable", "-Wunused-parameter",
          "-Wunused-but-set-variable", "-Wunknown-pragmas", "-Wsign-compare", "-Wmissing-field-initializers"})
      text += fmt::format("#pragma GCC diagnostic ignored \"{}\"\n", warning);
    text += "#if !defined(__clang__)\n#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#endif\n\n";
    text += fmt::format("namespace {}::{} {{\nnamespace {{\n\n", options_.space, detail_);
    if (!device_.text.empty())
      text += "// ==== hone's device headers (Apache License 2.0)\n\n" + device_.text;
    text += "// ==== threads and memory\n\n" + runtime_.text;
    text += "using runtime::hone_floor_div, runtime::hone_mod, runtime::hone_ceil_div, runtime::hone_min,\n"
            "    runtime::hone_max, runtime::hone_abs;\n\n";
    text += main.text + "\n";
    if (other) text += other->text + "\n";
    if (options_.alignment > 0)
      text += fmt::format("bool aligned(const void* pointer) {{ return reinterpret_cast<uintptr_t>(pointer) % {} == 0; }}\n\n", options_.alignment);
    text += fmt::format("}}  // namespace\n}}  // namespace {}::{}\n\n#pragma GCC diagnostic pop\n\n", options_.space, detail_);
    text += entry_points(main.plan, other ? &other->plan : nullptr);
    std::vector<std::string> macros = device_.macros;
    if (!macros.empty()) text += "\n" + undefine(macros);
    return text;
  }

  [[nodiscard]] std::string entry_points(const PlanCode& plan, const PlanCode* other) const {
    std::vector<std::string> run;
    const auto pass = [&](std::string_view qualifier, const std::string& tensor, const task::TensorType& type) {
      const std::string_view device = device_type(type.dtype);
      const std::string& name = names_.tensor(tensor);
      run.push_back(device == public_type(type.dtype)
                        ? name
                        : fmt::format("reinterpret_cast<{}{}::{}*>({})", qualifier, detail_, device, name));
    };
    for (const task::InputSpec& input : task_.inputs) pass("const ", input.name, input.type);
    for (const auto& [name, type] : task_.outputs) pass("", name, type);
    const std::vector<std::string> extent = extents();
    run.insert(run.end(), extent.begin(), extent.end());
    if (pooled()) run.emplace_back("THREADS");
    const auto applies = [&](const PlanCode& of, std::string_view label, std::string_view threads) {
      std::vector<std::string> args = extent;
      if (of.applies_threads) args.emplace_back(threads);
      return fmt::format("{}::{}_applies({})", detail_, label, fmt::join(args, ", "));
    };
    std::string condition = applies(plan, "kernel", "THREADS");
    if (options_.alignment > 0) {
      for (const task::InputSpec& input : task_.inputs)
        condition += fmt::format(" && {}::aligned({})", detail_, names_.tensor(input.name));
      for (const auto& [name, type] : task_.outputs)
        condition += fmt::format(" && {}::aligned({})", detail_, names_.tensor(name));
    }
    const std::string count = fmt::format("{}::runtime::thread_count(threads)", detail_);
    std::string text = fmt::format("namespace {} {{\n\n", options_.space);
    text += fmt::format("bool {}_applies({}{}) {{\n  return {};\n}}\n\n", name_, extent_parameters(),
                        plan.applies_threads ? std::string(extent.empty() ? "" : ", ") + "int threads" : "",
                        applies(plan, "kernel", count));
    text += fmt::format("bool {}({}{}) {{\n", name_, parameters(), pooled() ? std::string(parameters().empty() ? "" : ", ") + "int threads" : "");
    if (pooled()) text += fmt::format("  const int64_t THREADS = {};\n", count);
    const std::string arguments = fmt::format("{}", fmt::join(run, ", "));
    text += fmt::format("  if ({}) {{\n    {}::kernel_run({});\n    return true;\n  }}\n", condition, detail_, arguments);
    if (other)
      text += fmt::format("  if ({}) {{\n    {}::fallback_run({});\n    return true;\n  }}\n",
                          applies(*other, "fallback", "THREADS"), detail_, arguments);
    return text + fmt::format("  return false;\n}}\n\n}}  // namespace {}\n", options_.space);
  }

  const Kernel& kernel_;
  const task::Task& task_;
  const std::optional<Kernel>& fallback_;
  const ExportOptions& options_;
  const std::string name_, detail_;
  const PlanNames names_;
  Amalgamation device_;
  Amalgamation runtime_{Outside{}};
  bool needs_device_ = false;
};

}  // namespace

Result<std::vector<ExportedFile>> export_header(const Kernel& kernel, const task::Task& task,
                                                const std::optional<Kernel>& fallback, const ExportOptions& options) {
  HONE_TRY(std::string name, function_name(options, task));
  HONE_TRY_VOID(check_space(options.space));
  return Exporter(kernel, task, fallback, options, std::move(name)).files();
}

}  // namespace hone::face
