// CUDA for real cards: nvcc compiles the kernel's source to a cubin in the jail; no card is needed. What the cubin
// holds is read from its ELF file, what it needs from there and from ptxas's words.
#include <algorithm>

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

class CudaToolchain final : public Toolchain {
 public:
  CudaToolchain(CudaToolkit toolkit, std::optional<Disassembler> disassembler, fs::path headers, std::string arch)
      : toolkit_(std::move(toolkit)), disassembler_(std::move(disassembler)), headers_(std::move(headers)), arch_(std::move(arch)) {
    name_ = "nvcc " + toolkit_.version;
  }

  std::string name() const override { return name_; }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             const BuildOptions& options) override {
    if (kernel.header.language != kernel::Language::kCuda)
      return fail(ErrorCode::kInput, fmt::format("a kernel in {} is not built for {}", kernel::name_of(kernel.header.language), arch_));
    if (options.sanitize)
      return fail(ErrorCode::kUnavailable, "nvcc has no sanitized builds", "the emulator (emulator:cuda) looks at every access");
    const auto unit = gpu_unit(kernel, task, bindings);
    if (!unit) return BuildOutcome(BuildFailure{unit.error().message, unit.error().hint, false});
    const std::string number = arch_.substr(3);
    std::vector<std::string> argv = {toolkit_.nvcc.string(), "-std=c++20", options.optimisation, "-Xptxas", "-v," + options.optimisation,
                                     fmt::format("-gencode=arch=compute_{0},code=sm_{0}", number), "-cubin", "-lineinfo", "--expt-relaxed-constexpr",
                                     "-I" + headers_.string(), "-o", "kernel.cubin", "unit.cu"};
    base::Hasher hasher;
    hasher.add("cuda-build-1").add(name_).add(disassembler_ ? disassembler_->name : "").add(*unit);
    for (const std::string& argument : argv) hasher.add(argument);
    const std::string hash = hasher.finish();
    if (auto kept = kept_build(hash, name_)) {
      kept->card_arch = arch_;
      return BuildOutcome(std::move(*kept));
    }

    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("cuda"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cu", *unit));
    HONE_TRY(const CompilerRun run, run_compiler(argv, scratch.path(), headers_, options.deadline, {{toolkit_.root}}));
    const std::string words = without_ptxas(run.log);
    if (run.late) return BuildOutcome(BuildFailure{fmt::format("the compiler was stopped after {} s", options.deadline.count()), words, false});
    if (!run.ok) return BuildOutcome(BuildFailure{first_error(words), words, false});
    HONE_TRY(const CubinFacts cubin, read_cubin(scratch.path() / "kernel.cubin"));
    Build build;
    build.hash = hash;
    build.toolchain = name_;
    build.command = fmt::format("{}", fmt::join(argv, " "));
    build.log = words;
    build.wall_ns = run.wall_ns;
    for (const std::string& function : cubin.undefined)
      if (!may_call(function))
        return BuildOutcome(BuildFailure{fmt::format("it calls {}, which a kernel may not: printing and a heap outlive a launch", function), words, false});
    std::map<std::string, const GpuEntry*> plan;
    if (auto refused = match_plan(cubin.entries, kernel, plan); !refused.empty()) return BuildOutcome(BuildFailure{std::move(refused), words, false});
    add_facts(cubin, plan, read_ptxas(run.log), build);
    if (disassembler_) HONE_TRY_VOID(add_mix(scratch.path(), options.deadline, build));
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / "kernel.cubin"));
    build.card_arch = arch_;
    return BuildOutcome(std::move(build));
  }

 private:
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
    std::vector<std::string> argv = disassembler_->options;
    argv.insert(argv.begin(), disassembler_->program.string());
    argv.emplace_back("kernel.cubin");
    constexpr size_t kMost = size_t{64} << 20;
    HONE_TRY(const CompilerRun run, run_compiler(argv, folder, headers_, deadline, {{disassembler_->program.parent_path(), toolkit_.root}, kMost}));
    if (!run.ok || run.out.size() >= kMost) return {};
    const auto mixes = read_sass(run.out);
    for (const auto& [function, symbol] : build.symbols)
      if (const auto it = mixes.find(symbol); it != mixes.end())
        for (const auto& [what, count] : it->second) build.facts[fmt::format("mix/{}/{}", function, what)] = static_cast<double>(count);
    return {};
  }

  CudaToolkit toolkit_;
  std::optional<Disassembler> disassembler_;
  fs::path headers_;
  std::string arch_, name_;
};

}  // namespace

namespace {

Result<CudaToolkit> toolkit_here() {
  auto toolkit = find_cuda();
  if (toolkit) return *std::move(toolkit);
  return fail(ErrorCode::kUnavailable, "CUDA kernels need nvcc, and there is none",
              "install NVIDIA's CUDA toolkit 12 or later (nvcc in PATH or /usr/local/cuda/bin, or name it in HONE_NVCC)");
}

}  // namespace

Result<CardCompiler> cuda_compiler() {
  HONE_TRY(const CudaToolkit toolkit, toolkit_here());
  const auto disassembler = find_disassembler(toolkit);
  return CardCompiler{"nvcc " + toolkit.version, toolkit.archs, disassembler ? disassembler->name : ""};
}

Result<std::unique_ptr<Toolchain>> cuda_toolchain(std::string arch) {
  HONE_TRY(const fs::path headers, device_headers());
  HONE_TRY(CudaToolkit toolkit, toolkit_here());
  const std::string plain = !arch.empty() && (arch.back() == 'a' || arch.back() == 'f') ? arch.substr(0, arch.size() - 1) : arch;
  if (std::find(toolkit.archs.begin(), toolkit.archs.end(), plain) == toolkit.archs.end())
    return fail(ErrorCode::kInput, fmt::format("nvcc {} does not know \"{}\"", toolkit.version, arch), fmt::format("it knows {}", fmt::join(toolkit.archs, ", ")));
  auto disassembler = find_disassembler(toolkit);
  return std::unique_ptr<Toolchain>(std::make_unique<CudaToolchain>(std::move(toolkit), std::move(disassembler), headers, std::move(arch)));
}

}  // namespace hone::target
