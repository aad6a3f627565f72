#include "hone/face/export/export.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "hone/face/export/amalgamation.h"
#include "hone/face/export/header_file.h"
#include "hone/face/export/plan_code.h"
#include "hone/face/export/source_text.h"

namespace hone::face {
namespace {

using kernel::Kernel;

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

/// One kernel as it stands in the source file.
struct Part {
  std::string text;  ///< its namespace and its plan
  PlanCode plan;
};

/// Puts NAME.cc together: everything but the two public functions is in NAME_detail and local to the
/// file, so that exported kernels, built with different flags perhaps, share nothing in one program.
class SourceFile {
 public:
  SourceFile(Subject& subject) : subject_(subject), options_(subject.options), detail_(subject.name + "_detail") {}

  Result<std::string> write() {
    HONE_TRY(const Part main, part(subject_.kernel, "kernel", subject_.kernel.hash()));
    std::optional<Part> other;
    if (subject_.fallback) {
      HONE_TRY(other, part(*subject_.fallback, "fallback", subject_.fallback->hash() + ", where that one does not apply"));
    }
    subject_.conditions = main.plan.conditions;
    subject_.applies_threads = main.plan.applies_threads;
    subject_.scratch = main.plan.scratch || (other && other->plan.scratch);
    if (needs_device_) HONE_TRY_VOID(device_.add("hone/cpu.h"));
    HONE_TRY_VOID(device_.add("hone/cpu/plan.h"));   // what plans' expressions call
    if (subject_.pooled()) HONE_TRY_VOID(runtime_.add("pool.h"));
    if (subject_.scratch) HONE_TRY_VOID(runtime_.add("scratch.h"));
    return text(main, other ? &*other : nullptr);
  }

 private:
  /// The kernel in a namespace of its own, `label`, and the two functions of its plan.
  Result<Part> part(const Kernel& kernel, const std::string& label, const std::string& title) {
    if (kernel.header.language != kernel::Language::kCpp)
      return fail(ErrorCode::kInput,
                  fmt::format("a kernel in {} cannot become a C++ header", kernel::name_of(kernel.header.language)),
                  "export takes CPU kernels in c++");
    std::set<std::string> functions;
    for (const kernel::Launch& launch : kernel.header.launches) functions.insert(launch.function);
    const Outside outside{fmt::format("}}  // namespace {}\n}}  // namespace\n}}  // namespace", label),
                          fmt::format("namespace {}::{} {{\nnamespace {{\nnamespace {} {{", options_.space, detail_, label)};
    HONE_TRY(const MovedSource moved, move_source(kernel.source, label + ".cc", functions, outside));
    system_.insert(moved.system.begin(), moved.system.end());
    for (const std::string& header : moved.hone) HONE_TRY_VOID(device_.add(header));
    Part part;
    HONE_TRY(part.plan, write_plan(kernel, subject_.task, subject_.names, options_, label, label));
    needs_device_ = needs_device_ || part.plan.narrow_types || part.plan.vector_bytes ||
                    uses_word(tokenize_cpp(moved.text), "hone") || moved.text.find("HONE_") != std::string::npos;

    std::string defines;
    std::vector<std::string> macros;
    for (const auto& [tunable, value] : kernel.config) {
      defines += fmt::format("#define {} {}\n", tunable, value);
      macros.push_back(tunable);
    }
    for (const std::string& symbol : kernel.header.specialise) {
      defines += fmt::format("#define {} INT64_C({})\n", symbol, options_.specialised.find(symbol)->second);
      macros.push_back(symbol);
    }
    macros.insert(macros.end(), moved.macros.begin(), moved.macros.end());
    part.text = fmt::format("// ==== kernel {}\n\nnamespace {} {{\n{}{}\n}}  // namespace {}\n{}\n{}\n{}\n", title, label,
                            defines, moved.text, label, undefine(macros), part.plan.applies, part.plan.run);
    return part;
  }

  [[nodiscard]] std::string build_notes() const {
    const std::string& name = subject_.name;
    const std::string flags = fmt::format("{}", fmt::join(options_.flags, " "));
    std::string target = fmt::format("add_library({0} STATIC {0}.cc)\n"
                                     "target_include_directories({0} PUBLIC .)\n"
                                     "target_compile_features({0} PRIVATE cxx_std_20)\n"
                                     "target_compile_options({0} PRIVATE {1} \"$<$<CXX_COMPILER_ID:GNU>:{2}>\")\n", name, flags, fmt::join(options_.gnu_flags, ";"));
    if (subject_.pooled())
      target += fmt::format("find_package(Threads REQUIRED)\ntarget_link_libraries({} PUBLIC Threads::Threads)\n", name);
    target.pop_back();
    std::string text = fmt::format("// {0}.cc: what {0}.h declares. C++20, g++ 12, clang++ 16 or later, POSIX.\n//\n", name);
    text += comment("    ", fmt::format("g++ -std=c++20 {} {}{} -c {}.cc", flags, fmt::join(options_.gnu_flags, " "), subject_.pooled() ? " -pthread" : "", name));
    text += "//\n// or with CMake\n//\n" + comment("    ", target);
    text += "//\n// These are the flags that hone judges kernels with; -ffast-math would break NaN, infinity and accuracy.\n//\n";
    return text + provenance(subject_);
  }

  [[nodiscard]] std::string text(const Part& main, const Part* other) const {
    std::set<std::string> system = system_;
    for (const Amalgamation* part : {&device_, &runtime_}) system.insert(part->system().begin(), part->system().end());
    if (options_.alignment > 0) system.insert("<initializer_list>");
    system.insert({"<stddef.h>", "<stdint.h>", "<string.h>"});
    std::string text = build_notes() + fmt::format("#include \"{}.h\"\n\n", subject_.name);
    for (const std::string& file : system) text += fmt::format("#include {}\n", file);
    if (const Isa isa = isa_of(options_.isa); !isa.condition.empty())
      text += fmt::format("\n#if !({})\n#warning \"{} was made for {}, which these compiler flags leave out\"\n#endif\n",
                          isa.condition, subject_.name, isa.name);
    text += "\n// Kernels are written without an eye to these warnings.\n#pragma GCC diagnostic push\n";
    for (const std::string_view warning :
         {"-Wpsabi", "-Wignored-attributes", "-Wunused-function", "-Wunused-variable", "-Wunused-parameter",
          "-Wunused-but-set-variable", "-Wunknown-pragmas", "-Wsign-compare", "-Wmissing-field-initializers"})
      text += fmt::format("#pragma GCC diagnostic ignored \"{}\"\n", warning);
    text += "#if !defined(__clang__)\n#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#endif\n\n";
    text += fmt::format("namespace {}::{} {{\nnamespace {{\n\n", options_.space, detail_);
    text += "// ==== hone's device headers (Apache License 2.0)\n\n" + device_.text();
    text += "// ==== what launch plans need\n\n" + runtime_.text();
    text += main.text;
    if (other) text += other->text;
    if (options_.alignment > 0)
      text += fmt::format("bool aligned(std::initializer_list<const void*> pointers) {{\n"
                          "  for (const void* pointer : pointers)\n"
                          "    if (reinterpret_cast<uintptr_t>(pointer) % {} != 0) return false;\n"
                          "  return true;\n}}\n\n", options_.alignment);
    text += fmt::format("}}  // namespace\n}}  // namespace {}::{}\n\n#pragma GCC diagnostic pop\n\n", options_.space, detail_);
    text += entry_points(main.plan, other ? &other->plan : nullptr);
    if (!device_.macros().empty()) text += "\n" + undefine(device_.macros());
    return text;
  }

  /// The two public functions.
  [[nodiscard]] std::string entry_points(const PlanCode& plan, const PlanCode* other) const {
    std::vector<std::string> pointers, run;
    const auto pass = [&](std::string_view qualifier, const std::string& tensor, task::DType dtype) {
      const std::string& name = subject_.names.tensor(tensor);
      pointers.push_back(name);
      run.push_back(task::cpp_name_of(dtype) == public_type(dtype)
                        ? name
                        : fmt::format("reinterpret_cast<{}{}::{}*>({})", qualifier, detail_, task::cpp_name_of(dtype), name));
    };
    for (const task::InputSpec& input : subject_.task.inputs) pass("const ", input.name, input.type.dtype);
    for (const auto& [name, type] : subject_.task.outputs) pass("", name, type.dtype);
    const std::vector<std::string> extents = subject_.extents();
    run.insert(run.end(), extents.begin(), extents.end());
    if (subject_.pooled()) run.emplace_back("THREADS");
    const auto applies = [&](const PlanCode& of, std::string_view label, const std::string& threads) {
      std::vector<std::string> arguments = extents;
      if (of.applies_threads) arguments.push_back(threads);
      return with_arguments(fmt::format("{}::{}_applies", detail_, label), arguments, 6);
    };
    std::string condition = applies(plan, "kernel", "THREADS");
    if (options_.alignment > 0)
      condition += fmt::format(" &&\n      {}::aligned({{{}}})", detail_, fmt::join(pointers, ", "));
    const std::string count = fmt::format("{}::runtime::thread_count(threads)", detail_);
    const auto call = [&](std::string_view label) {
      return with_arguments(fmt::format("    {}::{}_run", detail_, label), run, 8) + ";\n    return true;\n  }\n";
    };

    std::string text = fmt::format("namespace {} {{\n\n", options_.space);
    text += with_arguments(fmt::format("bool {}_applies", subject_.name), subject_.applies_parameters("threads"), 4);
    text += fmt::format(" {{\n  return {};\n}}\n\n", applies(plan, "kernel", count));
    text += with_arguments("bool " + subject_.name, subject_.parameters("threads"), 4) + " {\n";
    if (subject_.pooled()) text += fmt::format("  const int64_t THREADS = {};\n", count);
    text += fmt::format("  if ({}) {{\n{}", condition, call("kernel"));
    if (other) text += fmt::format("  if ({}) {{\n{}", applies(*other, "fallback", "THREADS"), call("fallback"));
    return text + fmt::format("  return false;\n}}\n\n}}  // namespace {}\n", options_.space);
  }

  Subject& subject_;
  const ExportOptions& options_;
  const std::string detail_;
  Amalgamation device_{"include/"}, runtime_{"export/"};
  std::set<std::string> system_;  ///< included by the kernels
  bool needs_device_ = false;
};

/// Identifiers of the files that parameters must keep clear of.
std::set<std::string> taken_names(const std::string& name, const Kernel& kernel, const std::optional<Kernel>& fallback) {
  std::set<std::string> taken{name, name + "_applies", name + "_detail", "kernel", "fallback"};
  for (const Kernel* one : {&kernel, fallback ? &*fallback : nullptr}) {
    if (!one) continue;
    for (const auto& [tunable, value] : one->config) taken.insert(tunable);
  }
  return taken;
}

}  // namespace

Result<std::vector<ExportedFile>> export_header(const Kernel& kernel, const task::Task& task,
                                                const std::optional<Kernel>& fallback, const ExportOptions& options) {
  HONE_TRY(const std::string name, function_name(options, task));
  HONE_TRY_VOID(check_space(options.space));
  const PlanNames names(task, taken_names(name, kernel, fallback));
  Subject subject{kernel, task, fallback ? &*fallback : nullptr, options, names, name};
  HONE_TRY(std::string source, SourceFile(subject).write());
  return std::vector<ExportedFile>{{name + ".h", header_file(subject)}, {name + ".cc", std::move(source)}};
}

}  // namespace hone::face
