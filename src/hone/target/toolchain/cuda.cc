// CUDA for real cards: NVRTC, which is ten times as fast, or nvcc compiles the kernel's source to a cubin in the jail;
// no card is needed. Kernels that ship built come from a pack instead. What the cubin holds is read from its ELF file, what it needs
// from there and from ptxas's words.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/target/bundle.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/compiler_run.h"
#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/cubin_build.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/gpu_source.h"
#include "hone/target/toolchain/pieces.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/target/toolchain/triton.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

/// What a cubin may leave to the driver: assert's end. Printing and a heap outlive a launch.
bool may_call(const std::string& function) { return function == "__assertfail"; }

/// sm_90 and later.
bool has_clusters(const std::string& arch) { return std::atoi(arch.c_str() + std::min<size_t>(3, arch.size())) >= 90; }

constexpr std::string_view kCudaFamily = "sm_";  ///< architectures that it builds for begin so

/// What compiles for one architecture.
struct Compilers {
  std::optional<Nvrtc> nvrtc;
  std::optional<CudaToolkit> nvcc;
  std::optional<Disassembler> disassembler;
  [[nodiscard]] bool none() const { return !nvrtc && !nvcc; }
};

/// What either compiler is told of the code, whatever the machine. They are part of what names a kernel in a pack.
constexpr const char* kNvccOptions[] = {"-std=c++20", "-cubin", "-lineinfo", "--expt-relaxed-constexpr"};
constexpr const char* kNvccAssembly[] = {"-std=c++20", "-ptx", "--expt-relaxed-constexpr"};
constexpr const char* kNvrtcOptions[] = {"--std=c++20", "-lineinfo", "-default-device", "--diag-suppress=47"};
constexpr const char* kToInstall = "install NVIDIA's CUDA toolkit 12 or later (nvcc in PATH or /usr/local/cuda/bin, or name it in HONE_NVCC), or from pip "
                                   "nvidia-cuda-nvrtc and nvidia-cuda-runtime";

tl::unexpected<Error> no_compiler() { return fail(ErrorCode::kUnavailable, "CUDA kernels need nvcc or NVRTC, and there is neither", kToInstall); }

/// One way to compile, as far as the cache needs to know it.
struct Attempt {
  std::string toolchain;            ///< "NVRTC 13.0"
  std::string unit;
  std::vector<std::string> argv;
  ToolNeeds needs;
};

/// `unit` is nvcc's; NVRTC's has the same text below a prelude that is among the headers.
std::string key_of(std::string_view arch, const std::string& unit, std::string_view optimisation) {
  base::Hasher hasher;
  hasher.add("cuda-pack-1").add(arch).add(optimisation).add(device_headers_hash());
  for (const char* option : kNvccOptions) hasher.add(option);
  for (const char* option : kNvrtcOptions) hasher.add(option);
  return hasher.add(unit).finish();
}

class CudaToolchain final : public Toolchain {
 public:
  CudaToolchain(Compilers compilers, ShippedBuilds shipped, fs::path headers, std::string arch)
      : compilers_(std::move(compilers)), shipped_(std::move(shipped)), headers_(std::move(headers)), arch_(std::move(arch)),
        triton_("cuda:" + arch_) {}

  std::string name() const override { return name_of(compilers_, shipped_, arch_); }

  /// Packs are named only where they are all there is: a kernel says itself whether it is from one.
  static std::string name_of(const Compilers& compilers, const ShippedBuilds& shipped, const std::string& arch) {
    if (compilers.none()) return as_shipped(fmt::format("{}", fmt::join(shipped.toolchains(arch), ", ")));
    const std::string nvrtc = compilers.nvrtc ? "NVRTC " + compilers.nvrtc->version : "", nvcc = compilers.nvcc ? "nvcc " + compilers.nvcc->version : "";
    return nvrtc + (nvrtc.empty() || nvcc.empty() ? "" : ", ") + nvcc;
  }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             const BuildOptions& options) override {
    if (kernel.header.language == kernel::Language::kTriton) {
      HONE_TRY(Toolchain* const triton, triton_.toolchain());
      return triton->build(kernel, task, bindings, options);
    }
    if (kernel.header.language != kernel::Language::kCuda)
      return fail(ErrorCode::kInput, fmt::format("a kernel in {} is not built for {}", kernel::name_of(kernel.header.language), arch_));
    if (options.sanitize)
      return fail(ErrorCode::kUnavailable, "nvcc has no sanitized builds", "the emulator (emulator:cuda) looks at every access");
    if (!has_clusters(arch_))
      for (const kernel::Launch& launch : kernel.header.launches)
        if (!launch.cluster.empty())
          return BuildOutcome(BuildFailure{fmt::format("{} is launched in clusters: clusters need sm_90, this is {}", launch.function, arch_), {}, false});
    const auto unit = gpu_unit(kernel, task, bindings);
    if (!unit) return BuildOutcome(BuildFailure{unit.error().message, unit.error().hint, false});
    std::vector<Attempt> attempts;  // the fast one first
    if (is_nvrtcs(options)) {
      HONE_TRY(std::string own, gpu_unit(kernel, task, bindings, true));
      attempts.push_back(nvrtc_attempt(std::move(own), options));
    }
    if (compilers_.nvcc) attempts.push_back(nvcc_attempt(*unit, options));
    const std::string key = key_of(arch_, *unit, options.optimisation);
    const std::vector<kernel::Kernel> pieces = options.pieces && options.compile && !attempts.empty() ? pieces_of(kernel) : std::vector<kernel::Kernel>();
    std::optional<Build> ready;
    if (!attempts.empty() && pieces.empty()) ready = kept_build(hash_of(attempts.front()), attempts.front().toolchain);
    if (!ready) {
      HONE_TRY(ready, shipped_build(key, kernel));
    }
    std::optional<BuildOutcome> outcome;
    if (ready) {
      HONE_TRY(outcome, finished(*std::move(ready), options));
    } else if (!pieces.empty()) {
      HONE_TRY(outcome, build_pieces(pieces, task, bindings, options));
    }
    for (const Attempt& attempt : attempts) {
      if (!options.compile) break;
      // NVRTC finds fewer headers: what it refuses, nvcc judges.
      const auto* const failure = outcome ? std::get_if<BuildFailure>(&*outcome) : nullptr;
      if (outcome && (!failure || failure->reason.starts_with(kLate))) break;
      HONE_TRY(outcome, compile(attempt, kernel, options));
    }
    if (!outcome)
      return BuildOutcome(BuildFailure{fmt::format("this kernel does not ship built, and there is neither nvcc nor NVRTC here that compiles for {}", arch_), kToInstall, false, true});
    if (auto* const build = std::get_if<Build>(&*outcome)) build->key = key;
    return *std::move(outcome);
  }

  Result<std::string> assembly(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) override {
    if (kernel.header.language == kernel::Language::kTriton) {
      HONE_TRY(Toolchain* const triton, triton_.toolchain());
      return triton->assembly(kernel, task, bindings);
    }
    if (compilers_.none()) return no_compiler();
    const BuildOptions options;
    HONE_TRY(std::string unit, gpu_unit(kernel, task, bindings, compilers_.nvrtc.has_value()));
    const std::string virtual_arch = "compute_" + arch_.substr(3);
    Attempt attempt;
    if (compilers_.nvrtc) {
      attempt = nvrtc_attempt(std::move(unit), options);
      std::erase_if(attempt.argv, [](const std::string& a) { return a.starts_with("--ptxas-options") || a == "-lineinfo"; });
      for (std::string& a : attempt.argv)
        if (a.starts_with("--gpu-architecture=")) a = "--gpu-architecture=" + virtual_arch;
    } else {
      std::vector<std::string> argv = {compilers_.nvcc->nvcc.string()};
      argv.insert(argv.end(), std::begin(kNvccAssembly), std::end(kNvccAssembly));
      argv.insert(argv.end(), {"-arch=" + virtual_arch, "-I" + headers_.string(), "-o", kObject, "unit.cu"});
      attempt = {"nvcc " + compilers_.nvcc->version, std::move(unit), std::move(argv), {{compilers_.nvcc->root}}};
    }
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cu", attempt.unit));
    HONE_TRY(const CompilerRun run, run_compiler(attempt.argv, scratch.path(), headers_, options.deadline, attempt.needs));
    if (!run.ok) return fail(ErrorCode::kInput, run.late ? std::string(kLate) : first_error(run.log));
    return base::read_file(scratch.path() / kObject);
  }

 private:
  static constexpr std::string_view kLate = "the compiler was stopped";
  static constexpr const char* kObject = "kernel.cubin";

  [[nodiscard]] Attempt nvcc_attempt(std::string unit, const BuildOptions& options) const {
    std::vector<std::string> argv = {compilers_.nvcc->nvcc.string()};
    argv.insert(argv.end(), std::begin(kNvccOptions), std::end(kNvccOptions));
    argv.insert(argv.end(), {options.optimisation, "-Xptxas", "-v," + options.optimisation, fmt::format("-gencode=arch=compute_{0},code=sm_{0}", arch_.substr(3)),
                             "-I" + headers_.string(), "-o", kObject, "unit.cu"});
    return with_includes({"nvcc " + compilers_.nvcc->version, std::move(unit), std::move(argv), {{compilers_.nvcc->root}}}, options);
  }

  /// NVRTC finds fewer headers: what brings folders of its own is nvcc's, where there is one.
  [[nodiscard]] bool is_nvrtcs(const BuildOptions& options) const { return compilers_.nvrtc && (options.includes.empty() || !compilers_.nvcc); }

  /// Side by side, as one bundle. Nothing where one does not compile by itself: the whole kernel's compiler says why, if it does not either.
  Result<std::optional<BuildOutcome>> build_pieces(const std::vector<kernel::Kernel>& pieces, const task::Task& task, const task::Bindings& bindings,
                                                   const BuildOptions& options) {
    const bool nvrtc = is_nvrtcs(options);
    std::vector<Result<BuildOutcome>> made(pieces.size(), BuildOutcome(BuildFailure{}));
    const auto build_one = [&](size_t i) -> Result<BuildOutcome> {
      HONE_TRY(std::string unit, gpu_unit(pieces[i], task, bindings, nvrtc));
      return compile(nvrtc ? nvrtc_attempt(std::move(unit), options) : nvcc_attempt(std::move(unit), options), pieces[i], options);
    };
    {
      std::vector<std::jthread> threads;
      for (size_t i = 1; i < pieces.size(); ++i) threads.emplace_back([&, i] { made[i] = build_one(i); });
      made[0] = build_one(0);
    }
    Build all;
    base::Hasher hasher;
    hasher.add("cuda-bundle-1");
    std::vector<std::string> images;
    for (Result<BuildOutcome>& outcome : made) {
      HONE_TRY(const BuildOutcome piece, std::move(outcome));
      const auto* const build = std::get_if<Build>(&piece);
      if (!build) return std::nullopt;
      hasher.add(build->hash);
      HONE_TRY(images.emplace_back(), base::read_file(build->artifact));
      all.toolchain = build->toolchain;
      all.command += (all.command.empty() ? "" : "\n") + build->command;
      all.log += build->log;
      all.wall_ns = std::max(all.wall_ns, build->wall_ns);
      for (const auto& [fact, value] : build->facts) all.facts[fact] += value;  // but for global bytes each is some function's own
      all.symbols.insert(build->symbols.begin(), build->symbols.end());
    }
    all.hash = hasher.finish();
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / kObject, bundled(images)));
    HONE_TRY(all, keep_build(std::move(all), scratch.path() / kObject));
    all.card_arch = arch_;
    return BuildOutcome(std::move(all));
  }

  /// What others' headers warn of is not the kernel's to mend.
  static Attempt with_includes(Attempt attempt, const BuildOptions& options) {
    if (!options.includes.empty()) attempt.argv.emplace_back("-w");
    for (const fs::path& folder : options.includes) {
      attempt.argv.push_back("-I" + folder.string());
      attempt.needs.readable.push_back(folder);
    }
    return attempt;
  }

  [[nodiscard]] Attempt nvrtc_attempt(std::string unit, const BuildOptions& options) const {
    const Nvrtc& nvrtc = *compilers_.nvrtc;
    std::vector<std::string> argv = {nvrtc.program.string(), "build", nvrtc.library.string(), "unit.cu", kObject};
    argv.insert(argv.end(), std::begin(kNvrtcOptions), std::end(kNvrtcOptions));
    argv.insert(argv.end(), {"--gpu-architecture=" + arch_, "--ptxas-options=-v", "--ptxas-options=" + options.optimisation,
                             "-I" + (headers_ / "hone/nvrtc/shim").string(), "-I" + nvrtc.include.string(), "-I" + (nvrtc.include / "cccl").string(),
                             "-I" + headers_.string()});
    return with_includes({"NVRTC " + nvrtc.version, std::move(unit), std::move(argv), {{nvrtc.library.parent_path(), nvrtc.include}}}, options);
  }

  [[nodiscard]] std::string hash_of(const Attempt& attempt) const {
    base::Hasher hasher;
    hasher.add("cuda-build-1").add(attempt.toolchain).add(compilers_.disassembler ? compilers_.disassembler->name : "").add(attempt.unit);
    for (const std::string& argument : attempt.argv) hasher.add(argument);
    return hasher.finish();
  }

  /// Where a compiler is here, what another of its release made: a driver may be too old for a newer one's cubins, and the kernels
  /// that a search compares are made alike.
  [[nodiscard]] bool fits(const Pack::Entry& entry) const {
    if (entry.arch != arch_) return false;
    return compilers_.none() || release_of(entry.toolchain) == release_of(compilers_.nvrtc ? compilers_.nvrtc->version : compilers_.nvcc->version);
  }

  Result<std::optional<Build>> shipped_build(const std::string& key, const kernel::Kernel& kernel) {
    const auto found = shipped_.find(key, [&](const Pack::Entry& entry) { return fits(entry); });
    if (!found) return std::nullopt;
    return build_of(*found, key, "cuda" + (compilers_.disassembler ? compilers_.disassembler->name : ""),
                    [&](const fs::path& file, Build& build) { return look_over(file, kernel, {}, build); });
  }

  Result<BuildOutcome> compile(const Attempt& attempt, const kernel::Kernel& kernel, const BuildOptions& options) {
    const std::string hash = hash_of(attempt);
    if (auto kept = kept_build(hash, attempt.toolchain)) return finished(std::move(*kept), options);
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cu", attempt.unit));
    HONE_TRY(const CompilerRun run, run_compiler(attempt.argv, scratch.path(), headers_, options.deadline, attempt.needs));
    const std::string words = without_ptxas(run.log);
    if (run.late) return BuildOutcome(BuildFailure{fmt::format("{} after {} s", kLate, options.deadline.count()), words, false});
    if (!run.ok) return BuildOutcome(BuildFailure{first_error(words), words, false});
    Build build;
    build.hash = hash;
    build.toolchain = attempt.toolchain;
    build.command = fmt::format("{}", fmt::join(attempt.argv, " "));
    build.log = words;
    build.wall_ns = run.wall_ns;
    HONE_TRY(std::string refused, look_over(scratch.path() / kObject, kernel, read_ptxas(run.log), build));
    if (!refused.empty()) return BuildOutcome(BuildFailure{std::move(refused), words, false});
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / kObject));
    return finished(std::move(build), options);
  }

  /// Puts symbols and facts into `build`; or says why the cubin is not taken. An Error where it is none.
  static Result<std::string> look_over(const fs::path& object, const kernel::Kernel& kernel, const std::map<std::string, PtxasFacts>& words, Build& build) {
    HONE_TRY(const CubinFacts cubin, read_cubin(object));
    for (const std::string& function : cubin.undefined)
      if (!may_call(function)) return fmt::format("it calls {}, which a kernel may not: printing and a heap outlive a launch", function);
    std::map<std::string, const GpuEntry*> plan;
    if (auto refused = match_plan(cubin.entries, kernel, plan); !refused.empty()) return refused;
    add_cubin_facts(cubin, plan, words, build);
    return std::string();
  }

  /// A build that is kept, with what was asked for beside the code.
  Result<BuildOutcome> finished(Build build, const BuildOptions& options) {
    if (options.mix && compilers_.disassembler && !has_mix(build)) {
      HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
      HONE_TRY(const std::string image, base::read_file(build.artifact));
      HONE_TRY_VOID(base::write_file_atomic(scratch.path() / kObject, image));
      HONE_TRY_VOID(add_sass_mix(*compilers_.disassembler, scratch.path(), kObject, options.deadline, build));
      if (has_mix(build)) {
        HONE_TRY(build, keep_build(std::move(build), scratch.path() / kObject));
      }
    }
    build.card_arch = arch_;
    return BuildOutcome(std::move(build));
  }

  Compilers compilers_;
  ShippedBuilds shipped_;
  fs::path headers_;
  std::string arch_;
  OtherLanguage triton_;
};

}  // namespace

namespace {

Compilers compilers_here() {
  Compilers found;
  found.nvcc = find_cuda();
  found.nvrtc = find_nvrtc(found.nvcc);
  found.disassembler = find_disassembler(found.nvcc);
  return found;
}

bool knows(const std::vector<std::string>& archs, std::string arch) {
  if (arch.ends_with('a') || arch.ends_with('f')) arch.pop_back();
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

}  // namespace

Result<std::string> cuda_key(std::string_view arch, const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             std::string_view optimisation) {
  return gpu_unit(kernel, task, bindings).map([&](const std::string& unit) { return key_of(arch, unit, optimisation); });
}

Result<CardCompiler> cuda_compiler() {
  const Compilers here = compilers_here();
  const ShippedBuilds shipped = ShippedBuilds::here(kCudaFamily);
  if (here.none() && shipped.to_string().empty()) return no_compiler();
  return CardCompiler{CudaToolchain::name_of(here, shipped, {}), here.nvcc ? here.nvcc->archs : here.nvrtc ? here.nvrtc->archs : shipped.archs(),
                      here.disassembler ? here.disassembler->name : "", shipped.to_string()};
}

Result<std::unique_ptr<Toolchain>> cuda_toolchain(std::string arch) {
  HONE_TRY(const fs::path headers, device_headers());
  Compilers here = compilers_here();
  ShippedBuilds shipped = ShippedBuilds::here(kCudaFamily);
  const bool ships = !arch.empty() && !shipped.to_string(arch).empty();
  if (here.none() && !ships) return no_compiler();
  const std::vector<std::string> archs = here.nvcc ? here.nvcc->archs : here.nvrtc ? here.nvrtc->archs : shipped.archs();
  const std::string name = CudaToolchain::name_of(here, shipped, {});
  if (here.nvcc && !knows(here.nvcc->archs, arch)) here.nvcc.reset();
  if (here.nvrtc && !knows(here.nvrtc->archs, arch)) here.nvrtc.reset();
  if (here.none() && !ships)
    return fail(ErrorCode::kInput, fmt::format("{} does not know \"{}\"", name, arch), fmt::format("it knows {}", fmt::join(archs, ", ")));
  return std::unique_ptr<Toolchain>(std::make_unique<CudaToolchain>(std::move(here), std::move(shipped), headers, std::move(arch)));
}

}  // namespace hone::target
