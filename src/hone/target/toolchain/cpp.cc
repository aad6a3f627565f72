// C++ for CPUs: one translation unit a kernel, made of the tunables as macros, the kernel's source and
// generated entries that walk a range of the grid; g++ or clang++ in the jail; the result checked
// before anybody loads it and kept in the cache under a hash of all that went into it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/assembly_check.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/compiler_run.h"
#include "hone/target/toolchain/call_error.h"
#include "hone/target/toolchain/compilers.h"
#include "hone/target/toolchain/elf_check.h"
#include "hone/target/toolchain/sanitized_runner.h"
#include "hone/target/toolchain/source_check.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

/// "const float*" for an input, "float*" for an output or workspace; empty when there is no such tensor.
std::string pointer_type(const kernel::Kernel& kernel, const task::Task& task, const std::string& name) {
  for (const auto& input : task.inputs)
    if (input.name == name) return fmt::format("const {}*", task::cpp_name_of(input.type.dtype));
  for (const auto& [output, type] : task.outputs)
    if (output == name) return fmt::format("{}*", task::cpp_name_of(type.dtype));
  for (const auto& workspace : kernel.header.workspaces)
    if (workspace.name == name) return fmt::format("{}*", task::cpp_name_of(workspace.type.dtype));
  return {};
}

/// Of cpp_entry(), one after the other.
const CallsFile kEntries{"entries.cc", 4};

/// The function that runs blocks [begin, end) of one launch. Its own names are hone's, as a kernel may have any other: a function "begin", a tunable "i".
Result<std::string> cpp_entry(const kernel::Kernel& kernel, const task::Task& task, size_t number) {
  const kernel::Launch& launch = kernel.header.launches[number];
  std::vector<std::string> args;
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const kernel::Argument& argument = launch.args[i];
    switch (argument.kind) {
      case kernel::Argument::Kind::kTensor: {
        const std::string type = pointer_type(kernel, task, argument.tensor);
        if (type.empty())
          return fail(ErrorCode::kInput, fmt::format("{} takes \"{}\", which is no input, output or workspace",
                                                     launch.function, argument.tensor));
        args.push_back(fmt::format("({})hone_args[{}]", type, i));
        break;
      }
      case kernel::Argument::Kind::kI32: args.push_back(fmt::format("(int32_t)hone_args[{}]", i)); break;
      case kernel::Argument::Kind::kI64: args.push_back(fmt::format("(int64_t)hone_args[{}]", i)); break;
      case kernel::Argument::Kind::kShared: args.push_back("hone_shared"); break;
      default: HONE_CHECK(false, "an argument that only Triton's kernels have");
    }
  }
  static constexpr std::string_view kIndex[] = {"hone_i % hone_grid[0]", "hone_i / hone_grid[0] % hone_grid[1]",
                                                "hone_i / (hone_grid[0] * hone_grid[1])"};
  if (launch.grid.size() == 1) {
    args.push_back("hone_i");
  } else {
    for (size_t d = 0; d < launch.grid.size(); ++d) args.emplace_back(kIndex[d]);
  }
  return fmt::format(
      "extern \"C\" void hone_entry_{0}([[maybe_unused]] const uint64_t* hone_args, [[maybe_unused]] void* hone_shared,\n"
      "                             [[maybe_unused]] const int64_t* hone_grid, int64_t hone_begin, int64_t hone_end) {{\n"
      "  for (int64_t hone_i = hone_begin; hone_i < hone_end; ++hone_i) {1}({2});\n}}\n",
      number, launch.function, fmt::join(args, ", "));
}

/// The whole translation unit.
Result<std::string> translation_unit(const kernel::Kernel& kernel, const task::Task& task,
                                     const task::Bindings& bindings) {
  // The headers come first: a tunable may have a name that they use.
  std::string text = "#include \"hone/cpu.h\"\n";
  for (const auto& [name, value] : kernel.config) text += fmt::format("#define {} {}\n", name, value);
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it == bindings.end())
      return fail(ErrorCode::kInput, fmt::format("the header specialises {}, which is no shape symbol", symbol));
    text += fmt::format("#define {} INT64_C({})\n", symbol, it->second);
  }
  text += "#line 1 \"kernel.cc\"\n" + kernel.source + "\n#line 1 \"entries.cc\"\n";
  std::string table;
  for (size_t i = 0; i < kernel.header.launches.size(); ++i) {
    HONE_TRY(const std::string entry, cpp_entry(kernel, task, i));
    text += entry;
    table += fmt::format("{}hone_entry_{}", i ? ", " : "", i);
  }
  text += fmt::format(
      "using hone_entry = void (*)(const uint64_t*, void*, const int64_t*, int64_t, int64_t);\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const hone_entry hone_entries[] = {{{}}};\n",
      table);
  return text;
}

class CppToolchain final : public Toolchain {
 public:
  CppToolchain(std::vector<Compiler> compilers, fs::path headers)
      : compilers_(std::move(compilers)), headers_(std::move(headers)) {}

  std::string name() const override {
    std::string all;
    for (const Compiler& compiler : compilers_) all += (all.empty() ? "" : ", ") + compiler.name;
    return all;
  }

  std::vector<std::string> other_compilers() const override {
    std::vector<std::string> others;
    for (size_t i = 1; i < compilers_.size(); ++i) others.push_back(compilers_[i].family);
    return others;
  }

  std::string extensions() const override {
    std::string all;
    for (const Compiler& compiler : compilers_)
      if (const auto names = native_extensions(compiler.program); !names.empty())
        all += fmt::format("{}: {}\n", compiler.name, fmt::join(names, " "));
    return all;
  }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task,
                             const task::Bindings& bindings, const BuildOptions& options) override {
    HONE_TRY(const Compiler* const compiler, compiler_for(kernel));
    HONE_TRY(const std::string unit, translation_unit(kernel, task, bindings));
    std::vector<std::string> argv = {compiler->program, "-std=c++20", options.optimisation, "-march=native",
                                     "-fno-math-errno", "-fno-trapping-math",
                                     "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fPIC",
                                     "-shared", "-nostartfiles", "-static-libgcc", "-Wl,-z,relro,-z,now", "-Wno-psabi",
                                     "-Wno-ignored-attributes", "-Werror=return-type", "-Werror=date-time",
                                     "-I" + headers_.string()};
    for (const auto& flags : {contraction_flags(*compiler), scheduling_flags(*compiler)}) argv.insert(argv.end(), flags.begin(), flags.end());
    // It preprocesses, compiles and links in turn, each time with all of the words: that some say nothing to this step is no news to a kernel's author.
    if (compiler->family == "clang") argv.emplace_back("-Wno-unused-command-line-argument");
    if (!options.instructions.empty()) {
      const auto native = std::find(argv.begin(), argv.end(), "-march=native");
      argv.insert(argv.erase(native), options.instructions.begin(), options.instructions.end());
    }
    if (options.lines) argv.insert(argv.end(), {"-g1", "-gdwarf-4"});
    if (options.sanitize) {
      for (const std::string_view flag : kSanitizerFlags) argv.emplace_back(flag);
      if (fills_locals(*compiler)) argv.emplace_back("-ftrivial-auto-var-init=pattern");
    }
    base::Hasher hasher;
    hasher.add("cpp-build-4").add(compiler->name).add(cpu_info().model).add(cpu_info().isa).add(unit);
    for (const std::string& argument : argv) hasher.add(argument);
    hasher.add(headers_.string());
    const std::string hash = hasher.finish();
    fs::path runner;
    if (options.sanitize) {
      HONE_TRY(runner, sanitized_runner(compiler->program, compiler->name));
    }
    if (auto kept = kept_build(hash, compiler->name)) {
      kept->runner = runner;
      return BuildOutcome(std::move(*kept));
    }

    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("build"));
    const fs::path source = scratch.path() / "unit.cc";
    const fs::path object = scratch.path() / "kernel.so";
    HONE_TRY_VOID(base::write_file_atomic(source, unit));
    if (options.sanitize) {
      HONE_TRY(const std::string evasion, find_evasion(argv, scratch.path(), headers_, options.deadline));
      if (!evasion.empty()) return BuildOutcome(BuildFailure{evasion, {}, true});
    }
    HONE_TRY(Found unseen, look_into(kernel, argv, scratch.path(), options.deadline));
    if (unseen) return BuildOutcome(std::move(*unseen));
    CompilerRun run;
    HONE_TRY(Found failed, compile(argv, scratch.path(), options.deadline, run));
    if (failed) {
      if (std::string wrong = call_error(failed->log, kernel, kEntries, "kernel.cc"); !wrong.empty()) failed->reason = std::move(wrong);
      failed->log = without_calls(failed->log, kernel, kEntries, "kernel.cc");
      return BuildOutcome(std::move(*failed));
    }
    HONE_TRY(const ElfFacts facts, read_elf(object));
    if (std::string why = refuse(facts, options.sanitize); !why.empty())
      return BuildOutcome(BuildFailure{std::move(why), run.log, false});
    Build build;
    build.hash = hash;
    build.toolchain = compiler->name;
    build.command = fmt::format("{} -o kernel.so unit.cc -lm", fmt::join(argv, " "));
    build.facts = {{"text_bytes", static_cast<double>(facts.text_bytes)},
                   {"data_bytes", static_cast<double>(facts.data_bytes)}};
    build.log = run.log;
    build.wall_ns = run.wall_ns;
    build.sanitized = options.sanitize;
    build.runner = runner;
    HONE_TRY(build, keep_build(std::move(build), object));
    return BuildOutcome(std::move(build));
  }

 private:
  using Found = std::optional<BuildFailure>;
  /// Locals that are never set hold a pattern then, and not what happens to be on the stack.
  static bool fills_locals(const Compiler& compiler) {
    constexpr int kFirstGcc = 12;
    return compiler.family == "clang" || std::atoi(compiler.name.c_str() + compiler.name.rfind(' ') + 1) >= kFirstGcc;
  }

  Result<Found> run_with(std::vector<std::string> argv, std::initializer_list<std::string> last, const fs::path& folder, std::chrono::seconds deadline,
                         CompilerRun& run) const {
    argv.insert(argv.end(), last);
    HONE_TRY(run, run_compiler(argv, folder, headers_, deadline));
    if (run.late) return Found(BuildFailure{fmt::format("the compiler was stopped after {} s", deadline.count()), run.log, false});
    return run.ok ? Found() : Found(BuildFailure{first_error(run.log), run.log, false});
  }

  /// kernel.so of unit.ii, by way of assembly, which is looked at. `run` is what the compiler says of the whole.
  Result<Found> compile(const std::vector<std::string>& argv, const fs::path& folder, std::chrono::seconds deadline, CompilerRun& run) const {
    HONE_TRY(Found failed, run_with(argv, {"-S", "-o", "unit.s", "unit.ii"}, folder, deadline, run));
    if (failed) return failed;
    HONE_TRY(const std::string assembly, base::read_file(folder / "unit.s"));
    if (std::string why = refuse_instructions(assembly); !why.empty()) return Found(BuildFailure{std::move(why), run.log, false});
    CompilerRun linked;
    HONE_TRY(failed, run_with(argv, {"-o", "kernel.so", "unit.s", "-lm"}, folder, deadline, linked));
    run.wall_ns += linked.wall_ns;
    return failed;
  }

  /// What keeps the unit from being compiled at all; leaves unit.ii.
  Result<Found> look_into(const kernel::Kernel& kernel, const std::vector<std::string>& argv, const fs::path& folder, std::chrono::seconds deadline) const {
    if (std::string why = refuse_directives(kernel.source); !why.empty()) return Found(BuildFailure{std::move(why), {}, false});
    CompilerRun run;
    HONE_TRY(Found failed, run_with(argv, {"-E", "-o", "unit.ii", "unit.cc"}, folder, deadline, run));
    if (failed) return failed;
    HONE_TRY(const std::string text, base::read_file(folder / "unit.ii"));
    std::string why = refuse_text(text);
    return why.empty() ? Found() : Found(BuildFailure{std::move(why), {}, false});
  }

  [[nodiscard]] Result<const Compiler*> compiler_for(const kernel::Kernel& kernel) const {
    const std::string& wanted = kernel.header.compiler;
    if (wanted.empty()) return &compilers_.front();
    for (const Compiler& compiler : compilers_)
      if (compiler.family == wanted) return &compiler;
    return fail(ErrorCode::kUnavailable, fmt::format("the kernel asks for the compiler {}, which is not installed", wanted),
                fmt::format("install it (apt-get install {}), or take the line compiler = \"{}\" out of its header",
                            wanted == "clang" ? fmt::format("clang-{}", kNewestClang) : wanted, wanted));
  }

  std::vector<Compiler> compilers_;  // the first is the default
  fs::path headers_;
};

}  // namespace

std::string device_headers_hash() {
  static const std::string hash = [] {
    base::Hasher hasher;
    for (const auto name : base::list_embedded("include/")) hasher.add(name).add(*base::find_embedded(name));
    return hasher.finish();
  }();
  return hash;
}

Result<fs::path> device_headers() {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const auto names = base::list_embedded("include/");
  HONE_CHECK(!names.empty(), "device headers are built in");
  const fs::path folder = base::cache_directory() / "include" / base::short_hash(device_headers_hash());
  if (fs::exists(folder / "complete")) return folder;
  for (const auto name : names) {
    const fs::path file = folder / name.substr(std::string_view("include/").size());
    HONE_TRY_VOID(base::make_directories(file.parent_path()));
    HONE_TRY_VOID(base::write_file_atomic(file, *base::find_embedded(name)));
  }
  HONE_TRY_VOID(base::write_file_atomic(folder / "complete", ""));
  return folder;
}

Result<std::unique_ptr<Toolchain>> cpp_toolchain() {
  HONE_TRY(const fs::path headers, device_headers());
  constexpr const char* kHint = "install one (apt-get install g++) or set HONE_CXX to its path";
  std::vector<Compiler> compilers;
  if (const char* chosen = std::getenv("HONE_CXX"); chosen && *chosen) {
    auto found = find_compiler(chosen);
    if (!found) return fail(ErrorCode::kUnavailable, fmt::format("no C++ compiler: tried {}", chosen), kHint);
    compilers.push_back(std::move(*found));
  }
  for (auto& found : {find_compiler("g++"), find_clang()})
    if (found && (compilers.empty() || compilers.front().family != found->family)) compilers.push_back(*found);
  if (compilers.empty()) return fail(ErrorCode::kUnavailable, "no C++ compiler: tried g++, clang++", kHint);
  return std::unique_ptr<Toolchain>(std::make_unique<CppToolchain>(std::move(compilers), headers));
}

}  // namespace hone::target
