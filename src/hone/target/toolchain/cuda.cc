// CUDA for real cards: NVRTC, which is ten times as fast, or nvcc compiles the kernel's source to a cubin in the jail;
// no card is needed. What the cubin holds is read from its ELF file, what it needs from there and from ptxas's words.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/compiler_run.h"
#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/gpu_source.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

/// What a cubin may leave to the driver: assert's end. Printing and a heap outlive a launch.
bool may_call(const std::string& function) { return function == "__assertfail"; }

/// sm_90 and later.
bool has_clusters(const std::string& arch) { return std::atoi(arch.c_str() + std::min<size_t>(3, arch.size())) >= 90; }

/// What compiles for one architecture: at least one of the two.
struct Compilers {
  std::optional<Nvrtc> nvrtc;
  std::optional<CudaToolkit> nvcc;
  std::optional<Disassembler> disassembler;
};

/// One way to compile, as far as the cache needs to know it.
struct Attempt {
  std::string toolchain;            ///< "NVRTC 13.0"
  std::string unit;
  std::vector<std::string> argv;
  ToolNeeds needs;
};

class CudaToolchain final : public Toolchain {
 public:
  CudaToolchain(Compilers compilers, fs::path headers, std::string arch)
      : compilers_(std::move(compilers)), headers_(std::move(headers)), arch_(std::move(arch)) {}

  std::string name() const override { return name_of(compilers_); }

  static std::string name_of(const Compilers& compilers) {
    const std::string nvrtc = compilers.nvrtc ? "NVRTC " + compilers.nvrtc->version : "", nvcc = compilers.nvcc ? "nvcc " + compilers.nvcc->version : "";
    return nvrtc + (nvrtc.empty() || nvcc.empty() ? "" : ", ") + nvcc;
  }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             const BuildOptions& options) override {
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
    std::optional<BuildOutcome> outcome;
    if (compilers_.nvrtc) {
      HONE_TRY(const std::string own, gpu_unit(kernel, task, bindings, true));
      HONE_TRY(outcome, compile(nvrtc_attempt(own, options), kernel, options));
    }
    // NVRTC finds fewer headers: what it refuses, nvcc judges.
    const auto* const failure = outcome ? std::get_if<BuildFailure>(&*outcome) : nullptr;
    if (compilers_.nvcc && (!outcome || (failure && !failure->reason.starts_with(kLate)))) {
      HONE_TRY(outcome, compile(nvcc_attempt(*unit, options), kernel, options));
    }
    return *std::move(outcome);
  }

 private:
  static constexpr std::string_view kLate = "the compiler was stopped";
  static constexpr const char* kObject = "kernel.cubin";

  [[nodiscard]] Attempt nvcc_attempt(std::string unit, const BuildOptions& options) const {
    return {"nvcc " + compilers_.nvcc->version, std::move(unit),
            {compilers_.nvcc->nvcc.string(), "-std=c++20", options.optimisation, "-Xptxas", "-v," + options.optimisation,
             fmt::format("-gencode=arch=compute_{0},code=sm_{0}", arch_.substr(3)), "-cubin", "-lineinfo", "--expt-relaxed-constexpr",
             "-I" + headers_.string(), "-o", kObject, "unit.cu"},
            {{compilers_.nvcc->root}}};
  }

  [[nodiscard]] Attempt nvrtc_attempt(std::string unit, const BuildOptions& options) const {
    const Nvrtc& nvrtc = *compilers_.nvrtc;
    return {"NVRTC " + nvrtc.version, std::move(unit),
            {nvrtc.program.string(), "build", nvrtc.library.string(), "unit.cu", kObject, "--std=c++20", "--gpu-architecture=" + arch_,
             "--ptxas-options=-v", "--ptxas-options=" + options.optimisation, "-lineinfo", "-default-device", "--diag-suppress=47",
             "-I" + (headers_ / "hone/nvrtc/shim").string(), "-I" + nvrtc.include.string(), "-I" + (nvrtc.include / "cccl").string(), "-I" + headers_.string()},
            {{nvrtc.library.parent_path(), nvrtc.include}}};
  }

  Result<BuildOutcome> compile(const Attempt& attempt, const kernel::Kernel& kernel, const BuildOptions& options) {
    base::Hasher hasher;
    hasher.add("cuda-build-1").add(attempt.toolchain).add(compilers_.disassembler ? compilers_.disassembler->name : "").add(attempt.unit);
    for (const std::string& argument : attempt.argv) hasher.add(argument);
    const std::string hash = hasher.finish();
    if (auto kept = kept_build(hash, attempt.toolchain)) return finished(std::move(*kept), options);
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cu", attempt.unit));
    HONE_TRY(const CompilerRun run, run_compiler(attempt.argv, scratch.path(), headers_, options.deadline, attempt.needs));
    const std::string words = without_ptxas(run.log);
    if (run.late) return BuildOutcome(BuildFailure{fmt::format("{} after {} s", kLate, options.deadline.count()), words, false});
    if (!run.ok) return BuildOutcome(BuildFailure{first_error(words), words, false});
    HONE_TRY(const CubinFacts cubin, read_cubin(scratch.path() / kObject));
    Build build;
    build.hash = hash;
    build.toolchain = attempt.toolchain;
    build.command = fmt::format("{}", fmt::join(attempt.argv, " "));
    build.log = words;
    build.wall_ns = run.wall_ns;
    for (const std::string& function : cubin.undefined)
      if (!may_call(function))
        return BuildOutcome(BuildFailure{fmt::format("it calls {}, which a kernel may not: printing and a heap outlive a launch", function), words, false});
    std::map<std::string, const GpuEntry*> plan;
    if (auto refused = match_plan(cubin.entries, kernel, plan); !refused.empty()) return BuildOutcome(BuildFailure{std::move(refused), words, false});
    add_facts(cubin, plan, read_ptxas(run.log), build);
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / kObject));
    return finished(std::move(build), options);
  }

  /// A build that is kept, with what was asked for beside the code.
  Result<BuildOutcome> finished(Build build, const BuildOptions& options) {
    if (options.mix && compilers_.disassembler && !has_mix(build)) {
      HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
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

  static void add_facts(const CubinFacts& cubin, const std::map<std::string, const GpuEntry*>& plan, const std::map<std::string, PtxasFacts>& words,
                        Build& build) {
    build.facts["writable_global_bytes"] = static_cast<double>(cubin.global_bytes);
    for (const auto& [function, entry] : plan) {
      build.symbols[function] = entry->symbol;
      const auto put = [&, &of = function](const std::string& fact, std::optional<int64_t> value) {
        if (value) build.facts[fact + "/" + of] = static_cast<double>(*value);
      };
      int64_t parameters = 0;
      for (const int64_t bytes : entry->parameters) parameters += bytes;
      put("constant_bytes", parameters + cubin.constant_bytes);
      for (const auto& [fact, value] : entry->facts) put(fact, value);
      put("max_threads", most_threads(*entry));
      if (const auto it = words.find(entry->symbol); it != words.end()) {
        put("spill_bytes", it->second.spill_bytes);
        put("static_shared_bytes", it->second.shared_bytes);
      }
    }
  }

  /// Nothing is added where the disassembler does not finish or knows too little.
  Status add_mix(const fs::path& folder, std::chrono::seconds deadline, Build& build) {
    const Disassembler& disassembler = *compilers_.disassembler;
    std::vector<std::string> argv = disassembler.options;
    argv.insert(argv.begin(), disassembler.program.string());
    argv.emplace_back(kObject);
    constexpr size_t kMost = size_t{64} << 20;
    ToolNeeds needs{{}, kMost};
    if (disassembler.program.has_parent_path()) needs.readable.push_back(disassembler.program.parent_path());
    HONE_TRY(const CompilerRun run, run_compiler(argv, folder, headers_, deadline, needs));
    if (!run.ok || run.out.size() >= kMost) return {};
    const auto mixes = read_sass(run.out);
    for (const auto& [function, symbol] : build.symbols)
      if (const auto it = mixes.find(symbol); it != mixes.end())
        for (const auto& [what, count] : it->second) build.facts[fmt::format("mix/{}/{}", function, what)] = static_cast<double>(count);
    return {};
  }

  Compilers compilers_;
  fs::path headers_;
  std::string arch_;
};

}  // namespace

namespace {

Result<Compilers> compilers_here() {
  Compilers found;
  found.nvcc = find_cuda();
  found.nvrtc = find_nvrtc(found.nvcc);
  found.disassembler = find_disassembler(found.nvcc);
  if (found.nvcc || found.nvrtc) return found;
  return fail(ErrorCode::kUnavailable, "CUDA kernels need nvcc or NVRTC, and there is neither",
              "install NVIDIA's CUDA toolkit 12 or later (nvcc in PATH or /usr/local/cuda/bin, or name it in HONE_NVCC), or from pip "
              "nvidia-cuda-nvrtc and nvidia-cuda-runtime");
}

bool knows(const std::vector<std::string>& archs, std::string arch) {
  if (arch.ends_with('a') || arch.ends_with('f')) arch.pop_back();
  return std::find(archs.begin(), archs.end(), arch) != archs.end();
}

}  // namespace

Result<CardCompiler> cuda_compiler() {
  HONE_TRY(const Compilers here, compilers_here());
  return CardCompiler{CudaToolchain::name_of(here), here.nvcc ? here.nvcc->archs : here.nvrtc->archs, here.disassembler ? here.disassembler->name : ""};
}

Result<std::unique_ptr<Toolchain>> cuda_toolchain(std::string arch) {
  HONE_TRY(const fs::path headers, device_headers());
  HONE_TRY(Compilers here, compilers_here());
  const std::vector<std::string> archs = here.nvcc ? here.nvcc->archs : here.nvrtc->archs;
  const std::string name = CudaToolchain::name_of(here);
  if (here.nvcc && !knows(here.nvcc->archs, arch)) here.nvcc.reset();
  if (here.nvrtc && !knows(here.nvrtc->archs, arch)) here.nvrtc.reset();
  if (!here.nvcc && !here.nvrtc)
    return fail(ErrorCode::kInput, fmt::format("{} does not know \"{}\"", name, arch), fmt::format("it knows {}", fmt::join(archs, ", ")));
  return std::unique_ptr<Toolchain>(std::make_unique<CudaToolchain>(std::move(here), headers, std::move(arch)));
}

}  // namespace hone::target
