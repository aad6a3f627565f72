// CUDA and HIP on the emulator: clang compiles the kernel's source with hone's device headers, every access to
// memory a call into the emulator's run-time (the instrumentation is -fsanitize=thread's, the callbacks are
// ours), or with AddressSanitizer in the sanitized build. The run-time is compiled once and linked in. What
// comes out is the same kind of shared object as a C++ kernel's and runs in the same closed process.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/target/cpu.h"
#include "hone/target/simt_device.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/compiler_run.h"
#include "hone/target/toolchain/compilers.h"
#include "hone/target/toolchain/elf_check.h"
#include "hone/target/toolchain/sanitized_runner.h"
#include "hone/target/toolchain/simt_source.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

/// All shared memory in one place, the launch's dynamic part last, behind everything else of the object.
constexpr std::string_view kLayout = R"(SECTIONS {
  .hone_shared (NOLOAD) : ALIGN(4096) {
    hone_shared_begin = .;
    *(.bss.hone_shared)
    . = ALIGN(1024);
    *(.bss.hone_shared_dynamic)
    hone_shared_end = .;
  }
}
INSERT AFTER .bss;
)";

/// Loads and stores stay as the source has them: one callback each, no vectors wider than the device's.
constexpr std::string_view kWatchFlags[] = {
    "-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile", "-mllvm", "-tsan-instrument-func-entry-exit=0",
    "-mllvm", "-tsan-instrument-atomics=0", "-mllvm", "-tsan-instrument-read-before-write=1"};

/// For the loops that wait in the sanitized build: unless every block calls, a loop may be left without a call.
constexpr std::string_view kTurns[] = {"-fsanitize-coverage=bb,no-prune,trace-pc"};

class SimtToolchain final : public Toolchain {
 public:
  SimtToolchain(Compiler compiler, fs::path headers) : compiler_(std::move(compiler)), headers_(std::move(headers)) {}

  std::string name() const override { return compiler_.name; }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             const BuildOptions& options) override {
    const SimtDevice* const device = simt_device(kernel.header.language);
    HONE_CHECK(device);
    const auto unit = simt_unit(kernel, task, bindings);
    if (!unit) return BuildOutcome(BuildFailure{unit.error().message, unit.error().hint, false});
    std::vector<std::string> argv = common(*device, "-O2");
    argv.insert(argv.end(), {"-g1", "-gdwarf-4", "-fno-vectorize", "-fno-slp-vectorize", "-Wno-unused-value", "-Wno-unknown-attributes",
                             "-Wno-unknown-pragmas", "-Wno-ignored-attributes", "-Werror=date-time", "-I" + (headers_ / "hone/simt/shim").string()});
    // Variables that are never set hold NaN, and not the zero that an emulated thread's fresh stack would have: a register holds anything.
    argv.emplace_back("-ftrivial-auto-var-init=pattern");
    if (options.sanitize) {
      for (const std::string_view flag : kSanitizerFlags) argv.emplace_back(flag);
      argv.emplace_back("-fno-sanitize=float-cast-overflow");
      for (const std::string_view flag : kTurns) argv.emplace_back(flag);
    } else {
      for (const std::string_view flag : kWatchFlags) argv.emplace_back(flag);
    }
    base::Hasher hasher;
    const std::string entries = simt_entries(kernel);
    hasher.add("simt-build-3").add(entries).add(compiler_.name).add(cpu_info().model).add(cpu_info().isa).add(*unit).add(kLayout);
    for (const std::string& argument : argv) hasher.add(argument);
    const std::string hash = hasher.finish();
    fs::path runner;
    if (options.sanitize) {
      HONE_TRY(runner, sanitized_runner(compiler_.program, compiler_.name));
    }
    if (auto kept = kept_build(hash, compiler_.name)) {
      kept->runner = runner;
      kept->emulates = device;
      return BuildOutcome(std::move(*kept));
    }

    HONE_TRY(const fs::path runtime, runtime_for(*device, options.sanitize));
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("simt"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cc", *unit));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "entries.c", entries));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "shared.ld", kLayout));
    HONE_TRY(const std::string object, base::read_file(runtime));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "runtime.o", object));
    if (options.sanitize) {
      HONE_TRY(const std::string evasion, find_evasion(argv, scratch.path(), headers_, options.deadline));
      if (!evasion.empty()) return BuildOutcome(BuildFailure{evasion, {}, true});
    }
    const auto compiled = [&](bool checked_vectors) -> Result<CompilerRun> {
      std::vector<std::string> compile = argv;
      if (checked_vectors) compile.emplace_back("-DHONE_CHECKED_VECTORS");
      HONE_TRY(const fs::path prelude, prelude_for(kernel.header.language, compile));
      compile.insert(compile.end(), {"-include-pch", prelude.string(), "-Xclang", "-fno-validate-pch", "-c", "-o", "unit.o", "unit.cc"});
      return run_compiler(compile, scratch.path(), headers_, options.deadline, {.readable = {prelude}});
    };
    HONE_TRY(CompilerRun run, compiled(options.sanitize));
    if (options.sanitize && !run.ok && !run.late) {
      HONE_TRY(run, compiled(false));
    }
    if (run.late) return BuildOutcome(BuildFailure{fmt::format("the compiler was stopped after {} s", options.deadline.count()), run.log, false});
    if (!run.ok) {
      const std::string file = fmt::format("kernel{}", kernel::row_of(kernel.header.language).suffix), wrong = call_error(run.log, kernel, kSimtCalls, file);
      return BuildOutcome(BuildFailure{wrong.empty() ? first_error(run.log) : wrong, without_calls(run.log, kernel, kSimtCalls, file), false});
    }
    const std::vector<std::string> link = {compiler_.program, "-shared", "-fPIC", "-fuse-ld=bfd", "-Wl,-T,shared.ld", "-Wl,-z,norelro", "-o", "kernel.so",
                                           "unit.o", "runtime.o", "-x", "c", "entries.c", "-lm"};
    HONE_TRY(const CompilerRun linked, run_compiler(link, scratch.path(), headers_, options.deadline));
    if (!linked.ok) return BuildOutcome(BuildFailure{first_error(linked.log), linked.log, false});
    HONE_TRY(const ElfFacts facts, read_elf(scratch.path() / "kernel.so"));
    if (std::string why = refuse(facts, options.sanitize, true); !why.empty()) return BuildOutcome(BuildFailure{std::move(why), run.log, false});
    Build build;
    build.hash = hash;
    build.toolchain = compiler_.name;
    build.command = fmt::format("{} -c -o unit.o unit.cc && {}", fmt::join(argv, " "), fmt::join(link, " "));
    build.facts = {{"text_bytes", static_cast<double>(facts.text_bytes)}, {"data_bytes", static_cast<double>(facts.data_bytes)}};
    add_shared(kernel, facts, build.facts);
    build.log = run.log;
    build.wall_ns = run.wall_ns + linked.wall_ns;
    build.sanitized = options.sanitize;
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / "kernel.so"));
    build.runner = runner;
    build.emulates = device;
    return BuildOutcome(std::move(build));
  }

 private:
  /// Floats become integers as the instructions of both vendors have it: what is too large becomes the largest.
  [[nodiscard]] std::vector<std::string> common(const SimtDevice& device, const std::string& optimisation) const {
    std::vector<std::string> all = {compiler_.program, "-std=c++20", optimisation, "-march=native", "-fno-math-errno", "-fno-trapping-math",
            "-fno-strict-float-cast-overflow", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fPIC", "-fno-stack-protector", "-fno-strict-aliasing",
            fmt::format("-DHONE_SIMT_WAVE={}", device.wave), "-I" + headers_.string()};
    const std::vector<std::string> contraction = contraction_flags(compiler_);
    all.insert(all.end(), contraction.begin(), contraction.end());
    return all;
  }

  /// Shared memory by kernel: a variable of a kernel's own counts for it, one of another function for all.
  static void add_shared(const kernel::Kernel& kernel, const ElfFacts& elf, std::map<std::string, double>& facts) {
    // As a symbol says it: "4rows", and "6part_24rows" of part_2::rows.
    const auto belongs = [](const std::string& name, std::string_view function) {
      std::string mangled;
      for (;;) {
        const size_t end = function.find("::");
        const std::string_view word = function.substr(0, end);
        mangled += fmt::format("{}{}", word.size(), word);
        if (end == std::string_view::npos) break;
        function.remove_prefix(end + 2);
      }
      return name.find(mangled) != std::string::npos;
    };
    for (const kernel::Launch& launch : kernel.header.launches) {
      double bytes = 0;
      for (const auto& [name, size] : elf.shared) {
        if (name == "hone_simt_dynamic") continue;
        const bool others = std::any_of(kernel.header.launches.begin(), kernel.header.launches.end(), [&](const kernel::Launch& l) {
          return l.function != launch.function && belongs(name, l.function);
        });
        if (!others || belongs(name, launch.function)) bytes += static_cast<double>(size);
      }
      facts["static_shared_bytes/" + launch.function] = bytes;
    }
  }

  /// The emulator's run-time as an object file, kept in the cache.
  Result<fs::path> runtime_for(const SimtDevice& device, bool sanitize) {
    std::vector<std::string> argv = common(device, "-O2");
    argv.insert(argv.end(), {"-g1", "-fno-builtin", "-Wall", "-c", "-x", "c++", (headers_ / "hone/simt/runtime.h").string()});
    if (sanitize) argv.emplace_back("-DHONE_SIMT_ASAN");
    return compiled_once(std::move(argv), ".o");
  }

  /// What units of `language` begin with, compiled for `argv` and kept in the cache: a third of the time that a small
  /// kernel takes. Units include it all the same; what is known already is skipped. Its name stands for its content, so
  /// the compiler need not compare the headers' times.
  Result<fs::path> prelude_for(kernel::Language language, std::vector<std::string> argv) {
    argv.insert(argv.end(), {"-x", "c++-header", (headers_ / simt_prelude(language)).string()});
    return compiled_once(std::move(argv), ".pch");
  }

  /// What `argv` makes of hone's own headers, in a file of the cache; their folder is named after their content.
  Result<fs::path> compiled_once(std::vector<std::string> argv, const std::string& extension) {
    const std::scoped_lock lock(mutex_);
    base::Hasher hasher;
    hasher.add("simt-part-1").add(compiler_.name).add(cpu_info().model).add(cpu_info().isa);
    for (const std::string& argument : argv) hasher.add(argument);
    const fs::path file = base::cache_directory() / "simt" / (base::short_hash(hasher.finish()) + extension);
    if (fs::exists(file)) return file;
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("simt"));
    argv.insert(argv.end(), {"-o", "made"});
    HONE_TRY(const CompilerRun run, run_compiler(argv, scratch.path(), headers_, std::chrono::seconds(120)));
    if (!run.ok)
      return fail(ErrorCode::kUnavailable, fmt::format("{} does not build the emulator: {}", compiler_.name, first_error(run.log)));
    HONE_TRY(const std::string made, base::read_file(scratch.path() / "made"));
    HONE_TRY_VOID(base::make_directories(file.parent_path()));
    HONE_TRY_VOID(base::write_file_once(file, made));
    return file;
  }

  Compiler compiler_;
  fs::path headers_;
  std::mutex mutex_;
};

}  // namespace

Result<std::unique_ptr<Toolchain>> simt_toolchain() {
  HONE_TRY(const fs::path headers, device_headers());
  const auto clang = find_clang();
  if (!clang)
    return fail(ErrorCode::kUnavailable, "the emulator of GPUs needs clang++ 16 or later, and there is none",
                fmt::format("install it (apt-get install clang-{})", kNewestClang));
  return std::unique_ptr<Toolchain>(std::make_unique<SimtToolchain>(*clang, headers));
}

}  // namespace hone::target
