// HIP for AMD Instinct cards, built without one and without ROCm: clang with hone's own device header (hone/hip/hip.h)
// makes a code object in the jail; facts are read from its metadata.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/code_object.h"
#include "hone/target/toolchain/compiler_run.h"
#include "hone/target/toolchain/compilers.h"
#include "hone/target/toolchain/gpu_source.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/tilelang.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/target/toolchain/triton.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArchs[] = {"gfx90a", "gfx942", "gfx950"};
constexpr const char* kControls = "controls.bc";
/// Older ones lack gfx950 or builtins that the headers use.
constexpr int kClang = 22;

/// Whether `program` runs.
bool runs(const std::string& program) {
  base::SpawnOptions spawn;
  spawn.argv = {program, "--version"};
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}};
  const auto exit = base::run(spawn, std::chrono::seconds(10));
  return exit && exit->ok();
}

constexpr std::string_view kAmdFamily = "gfx";  ///< architectures that it builds for begin so

/// What compiles for all of them; without it, what ships is all that there is.
struct AmdTools {
  Compiler clang;
  std::string disassembler;  ///< a program, or empty
};

const std::string& to_install() {
  static const std::string words = fmt::format("install clang {0} and its linker (apt-get install clang-{0} lld-{0})", kClang);
  return words;
}

class HipToolchain final : public Toolchain {
 public:
  HipToolchain(std::optional<AmdTools> tools, ShippedBuilds shipped, fs::path headers, std::string arch)
      : compiles_(tools), compiler_(tools ? tools->clang : Compiler()), disassembler_(tools ? tools->disassembler : ""), shipped_(std::move(shipped)),
        headers_(std::move(headers)), arch_(std::move(arch)), triton_("hip:" + arch_) {}

  std::string name() const override { return compiles_ ? compiler_.name : name_of(shipped_, arch_); }

  static std::string name_of(const ShippedBuilds& shipped, const std::string& arch) { return as_shipped(fmt::format("{}", fmt::join(shipped.toolchains(arch), ", "))); }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             const BuildOptions& options) override {
    if (kernel.header.language == kernel::Language::kTriton) {
      HONE_TRY(Toolchain* const triton, triton_.toolchain());
      return triton->build(kernel, task, bindings, options);
    }
    if (kernel.header.language != kernel::Language::kHip)
      return fail(ErrorCode::kInput, fmt::format("a kernel in {} is not built for {}", kernel::name_of(kernel.header.language), arch_));
    if (options.sanitize)
      return fail(ErrorCode::kUnavailable, "builds for AMD cards have no sanitizers here", "the emulator (emulator:hip) looks at every access");
    auto unit = gpu_unit(kernel, task, bindings);
    if (!unit) return BuildOutcome(BuildFailure{unit.error().message, unit.error().hint, false});
    const bool theirs = !options.includes.empty();
    ToolNeeds needs;
    std::vector<std::string> argv = {compiler_.program, "-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "--offload-arch=" + arch_,
                                     "-nogpulib", "-nogpuinc", "-fdeclspec", "-std=c++20", options.optimisation, "-g1", "-Wno-unused-value",
                                     "-Wno-builtin-macro-redefined", "-I" + (headers_ / "hone/hip/shim").string(),
                                     "-I" + (headers_ / "hone/simt/shim").string(), "-I" + headers_.string(), "-c", "-o", kObject, "unit.hip"};
    // Of no path and no version, as CUDA's.
    const std::string key = base::Hasher().add("hip-pack-1").add(arch_).add(options.optimisation).add(device_headers_hash()).add(*unit).finish();
    if (theirs) {
      unit->erase(0, unit->find('\n') + 1);  // our header, in whose place theirs come
      HONE_TRY(argv, with_headers(options, needs));
    }
    base::Hasher hasher;
    hasher.add("hip-build-1").add(compiler_.name).add(disassembler_).add(*unit);
    for (const std::string& argument : argv) hasher.add(argument);
    const std::string hash = hasher.finish();
    if (compiles_)
      if (auto kept = kept_build(hash, compiler_.name)) return finished(std::move(*kept), key, options);
    HONE_TRY(std::optional<Build> ready, shipped_build(key, kernel));
    if (ready) return finished(*std::move(ready), key, options);
    if (!compiles_ || !options.compile)
      return BuildOutcome(BuildFailure{fmt::format("this kernel does not ship built, and there is no clang {} here that compiles for {}", kClang, arch_), to_install(), false, true});
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("hip"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.hip", *unit));
    if (theirs) HONE_TRY_VOID(stand_for_rocm(options, scratch.path()));
    HONE_TRY(const CompilerRun run, run_compiler(argv, scratch.path(), headers_, options.deadline, needs));
    if (run.late) return BuildOutcome(BuildFailure{fmt::format("the compiler was stopped after {} s", options.deadline.count()), run.log, false});
    if (!run.ok) return BuildOutcome(BuildFailure{first_error(run.log), run.log, false});
    Build build;
    build.hash = hash;
    build.toolchain = compiler_.name;
    build.command = fmt::format("{}", fmt::join(argv, " "));
    build.log = run.log;
    build.wall_ns = run.wall_ns;
    HONE_TRY(std::string refused, look_over(scratch.path() / kObject, kernel, build));
    if (!refused.empty()) return BuildOutcome(BuildFailure{std::move(refused), run.log, false});
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / kObject));
    return finished(std::move(build), key, options);
  }

 private:
  static constexpr const char* kObject = "kernel.co";

  /// Puts symbols and facts into `build`; or says why the code object is not taken. An Error where it is none.
  static Result<std::string> look_over(const fs::path& file, const kernel::Kernel& kernel, Build& build) {
    HONE_TRY(const CodeObject object, read_code_object(file));
    std::map<std::string, const GpuEntry*> plan;
    if (auto refused = match_plan(object.entries, kernel, plan); !refused.empty()) return refused;
    build.facts["writable_global_bytes"] = static_cast<double>(object.global_bytes);
    for (const auto& [function, entry] : plan) {
      build.symbols[function] = entry->symbol;
      for (const auto& [fact, value] : entry->facts) build.facts[fact + "/" + function] = static_cast<double>(value);
    }
    return std::string();
  }

  Result<std::optional<Build>> shipped_build(const std::string& key, const kernel::Kernel& kernel) {
    const auto found = shipped_.find(key, [&](const Pack::Entry& entry) { return entry.arch == arch_ && (!compiles_ || release_of(entry.toolchain) == release_of(compiler_.name)); });
    if (!found) return std::nullopt;
    return build_of(*found, key, "hip" + disassembler_, [&](const fs::path& file, Build& build) { return look_over(file, kernel, build); });
  }

  /// Where HIP's own headers and ocml are: include/ and lib/ of a folder among `includes`.
  static Result<fs::path> amd_folder(const BuildOptions& options) {
    for (const fs::path& folder : options.includes)
      if (std::error_code ignored; fs::exists(folder / "include/hip/hip_runtime.h", ignored)) return folder;
    return fail(ErrorCode::kUnavailable, "source that includes HIP's headers needs them, and there are none", "make tilelang installs Triton too, whose wheel has them");
  }

  /// The command for source that includes HIP's own headers: what else of ROCm these want is in hone/tilelang/shim.
  Result<std::vector<std::string>> with_headers(const BuildOptions& options, ToolNeeds& needs) const {
    HONE_TRY(const fs::path amd, amd_folder(options));
    const fs::path shim = headers_ / "hone/tilelang/shim";
    std::vector<std::string> argv = {compiler_.program, "-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "--offload-arch=" + arch_, "--rocm-path=rocm", "-nogpulib",
                                     "-std=c++20", options.optimisation, "-g1", "-w", "-include", (shim / "hone_device_library.h").string(), "-I" + shim.string()};
    for (const fs::path& folder : options.includes) {
      needs.readable.push_back(folder);
      if (folder != amd) argv.push_back("-I" + folder.string());
    }
    for (const std::string& library : {(amd / "lib/ocml.bc").string(), std::string(kControls)}) argv.insert(argv.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", library});
    argv.insert(argv.end(), {"-c", "-o", kObject, "unit.hip"});
    return argv;
  }

  /// A folder that clang takes for ROCm's, and how ocml is to compute, as clang reads it.
  Status stand_for_rocm(const BuildOptions& options, const fs::path& folder) const {
    HONE_TRY(const fs::path amd, amd_folder(options));
    HONE_TRY_VOID(base::make_directories(folder / "rocm/bin"));
    HONE_TRY_VOID(base::write_file_atomic(folder / "rocm/bin/.hipVersion", "HIP_VERSION_MAJOR=7\nHIP_VERSION_MINOR=1\nHIP_VERSION_PATCH=0\n"));
    std::error_code error;
    fs::create_symlink(amd / "include", folder / "rocm/include", error);
    if (error) return fail(ErrorCode::kExhausted, "a link could not be made: " + error.message());
    HONE_TRY(const CompilerRun run, run_compiler({compiler_.program, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-w", "-emit-llvm", "-c", "-o", kControls,
                                                  (headers_ / "hone/tilelang/shim/controls.ll").string()}, folder, headers_, options.deadline));
    if (!run.ok) return fail(ErrorCode::kUnavailable, "clang does not read its own language: " + first_error(run.log));
    return {};
  }

  /// A build that is kept, with what was asked for beside the code.
  Result<BuildOutcome> finished(Build build, const std::string& key, const BuildOptions& options) {
    build.key = key;
    if (options.mix && !disassembler_.empty() && !has_mix(build)) {
      HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("hip"));
      HONE_TRY(const std::string image, base::read_file(build.artifact));
      HONE_TRY_VOID(base::write_file_atomic(scratch.path() / kObject, image));
      HONE_TRY_VOID(add_mix(scratch.path(), options.deadline, build));
      if (has_mix(build)) {
        HONE_TRY(build, keep_build(std::move(build), scratch.path() / kObject));
      }
    }
    build.card_arch = arch_;
    return BuildOutcome(std::move(build));
  }

  /// Nothing is added where the disassembler does not finish.
  Status add_mix(const fs::path& folder, std::chrono::seconds deadline, Build& build) {
    constexpr size_t kMost = size_t{64} << 20;
    HONE_TRY(const CompilerRun run, run_compiler({disassembler_, "-d", "--no-leading-addr", "--no-show-raw-insn", "--mcpu=" + arch_, kObject}, folder, headers_,
                                                 deadline, {{}, kMost}));
    if (!run.ok || run.out.size() >= kMost) return {};
    const auto mixes = read_amd_assembly(run.out);
    for (const auto& [function, symbol] : build.symbols)
      if (const auto it = mixes.find(symbol); it != mixes.end())
        for (const auto& [what, count] : it->second) build.facts[fmt::format("mix/{}/{}", function, what)] = static_cast<double>(count);
    return {};
  }

  bool compiles_;
  Compiler compiler_;
  std::string disassembler_;
  ShippedBuilds shipped_;
  fs::path headers_;
  std::string arch_;
  OtherLanguage triton_;
};

}  // namespace

namespace {

Result<AmdTools> tools_here() {
  const std::string& missing = to_install();
  auto clang = find_compiler(fmt::format("clang++-{}", kClang));
  if (!clang) return fail(ErrorCode::kUnavailable, fmt::format("HIP kernels for AMD cards need clang {}, and there is none", kClang), missing);
  if (!runs(fmt::format("ld.lld-{}", kClang)))
    return fail(ErrorCode::kUnavailable, fmt::format("HIP kernels for AMD cards need lld {}, and there is none", kClang), missing);
  const std::string objdump = fmt::format("llvm-objdump-{}", kClang);
  return AmdTools{*std::move(clang), runs(objdump) ? objdump : ""};
}

}  // namespace

Result<CardCompiler> hip_compiler() {
  const auto tools = tools_here();
  const ShippedBuilds shipped = ShippedBuilds::here(kAmdFamily);
  if (tools) return CardCompiler{tools->clang.name, {std::begin(kArchs), std::end(kArchs)}, tools->disassembler, shipped.to_string()};
  if (shipped.to_string().empty()) return tl::unexpected(tools.error());
  return CardCompiler{HipToolchain::name_of(shipped, {}), shipped.archs(), "", shipped.to_string()};
}

Result<std::unique_ptr<Toolchain>> hip_toolchain(std::string arch) {
  HONE_TRY(const fs::path headers, device_headers());
  if (std::find(std::begin(kArchs), std::end(kArchs), arch) == std::end(kArchs))
    return fail(ErrorCode::kInput, fmt::format("\"{}\" is no AMD architecture that hone builds for", arch), fmt::format("it knows {}", fmt::join(kArchs, ", ")));
  auto tools = tools_here();
  ShippedBuilds shipped = ShippedBuilds::here(kAmdFamily);
  if (!tools && shipped.to_string(arch).empty()) return tl::unexpected(tools.error());
  return std::unique_ptr<Toolchain>(
      std::make_unique<HipToolchain>(tools ? std::optional(*std::move(tools)) : std::nullopt, std::move(shipped), headers, std::move(arch)));
}

Result<std::unique_ptr<Toolchain>> gpu_toolchain(std::string_view target) {
  const auto wrapped = [&](std::unique_ptr<Toolchain> own) { return with_tilelang(std::move(own), std::string(target)); };
  if (target.starts_with("cuda:")) return cuda_toolchain(std::string(target.substr(5))).map(wrapped);
  if (target.starts_with("hip:")) return hip_toolchain(std::string(target.substr(4))).map(wrapped);
  return fail(ErrorCode::kUsage, fmt::format("\"{}\" names no card to build for", target), "cuda:sm_90a, cuda:sm_80, …, hip:gfx90a, hip:gfx942, hip:gfx950");
}

}  // namespace hone::target
