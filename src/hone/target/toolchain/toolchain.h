// Toolchains turn a kernel into a loadable build, in the jail, under a deadline, through a cache that
// is addressed by content. build() is thread-safe: several builds may run at once.
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/target/simt_device.h"
#include "hone/task/task.h"

namespace hone::target {

struct BuildOptions {
  /// AddressSanitizer and UndefinedBehaviorSanitizer. kUnavailable where the compiler has not got them or
  /// what it builds with them does not run in the jail.
  bool sanitize = false;
  std::string optimisation = "-O3";
  /// C++ only: the compiler's options for the instruction set, where it is to be another than this CPU's (a tool that runs
  /// the build may know fewer instructions); empty: -march=native. Others refuse what is not empty (kUnavailable).
  std::vector<std::string> instructions = {};
  bool lines = false;  ///< C++ only: the build says which line of the source an instruction is of
  /// Cards only: instructions are counted, where there is a disassembler. That may take as long as compiling.
  bool mix = false;
  std::chrono::seconds deadline{60};
  /// CUDA only: the artifact may be a bundle (bundle.h) of the kernel's pieces, compiled side by side, each once.
  bool pieces = false;
  bool compile = true;  ///< cards only; false: what is kept or ships, and nothing else
  std::vector<std::filesystem::path> includes = {};  ///< cards only: folders of headers that the source includes, besides hone's
};

struct Build {
  std::string hash;                            ///< of source, flags, compiler: the artifact's name
  std::filesystem::path artifact;              ///< the shared object in the cache
  std::string code;                            ///< names its machine code (machine_code.h): the same for sources that became the same
  std::string toolchain;                       ///< "g++ 12.2.0"; "NVRTC 13.0, shipped": compiled elsewhere, from a pack
  std::string command;                         ///< as one could type it
  std::map<std::string, double> facts;         ///< static facts: "text_bytes", …
  std::string log;                             ///< warnings
  int64_t wall_ns = 0;                         ///< 0: came from the cache
  bool sanitized = false;
  std::filesystem::path runner;                ///< program that runs it; empty: the one built in
  const SimtDevice* emulates = nullptr;        ///< the GPU that the build emulates, if any
  std::string card_arch;                       ///< real GPU: "sm_90a", "gfx942"; empty: the artifact is no GPU's
  std::map<std::string, std::string> symbols;  ///< real GPU: launch's function -> its name in the artifact
  std::shared_ptr<const kernel::Kernel> lowered;  ///< TileLang: the kernel that was compiled in the place of the given one; else null
  std::string lowered_key;                     ///< card: names the text of that kernel in a pack
  std::string key;                             ///< card: names it in a pack, on any machine (shipped.h); else empty
};

/// A candidate that did not build: data, with the compiler's words (bounded).
struct BuildFailure {
  std::string reason;                          ///< one line
  std::string log;
  bool evades = false;                         ///< its source tells a sanitized build from another
  bool unshipped = false;                      ///< says nothing of the kernel: no pack has it, and there is no compiler
};

using BuildOutcome = std::variant<Build, BuildFailure>;

/// The plan that a build is launched with: the kernel's own, or of what was compiled in its place. As kernel::bind().
[[nodiscard]] Result<kernel::BoundPlan> plan_of(const kernel::Kernel& kernel, const Build& build, const task::Task& task, const task::Bindings& bindings,
                                                const kernel::Limits& limits);

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "g++ 12.2.0, clang++-22 22.1.8"
  /// What a header's `compiler` may ask for and would not get by itself: "clang" beside g++.
  [[nodiscard]] virtual std::vector<std::string> other_compilers() const { return {}; }
  /// Instruction set extensions that its builds for this CPU may use, a line a compiler ("g++ 12.2.0: AVX2 FMA …");
  /// empty where it cannot be told. Runs the compilers.
  [[nodiscard]] virtual std::string extensions() const { return {}; }
  /// An Error means that we could not even try (no disk, no jail).
  [[nodiscard]] virtual Result<BuildOutcome> build(const kernel::Kernel& kernel,
                                                   const task::Task& task,
                                                   const task::Bindings& bindings,
                                                   const BuildOptions& options) = 0;
  /// CUDA only: the kernel as PTX, which a driver compiles, with the names of functions that build() says. kUnavailable where
  /// there is no compiler, kInput where the kernel does not compile.
  [[nodiscard]] virtual Result<std::string> assembly(const kernel::Kernel&, const task::Task&, const task::Bindings&) {
    return fail(ErrorCode::kUnavailable, "this toolchain says nothing between source and machine code");
  }
};

/// g++ or clang++ as found ($HONE_CXX, or g++ first); the other one serves kernels that ask for it.
/// kUnavailable with what to install when there is none. A build that asks for a compiler that is not
/// there is kUnavailable too. A sanitized build brings its runner, made by the same compiler.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> cpp_toolchain();

/// CUDA and HIP kernels on the emulator (docs/emulator.md): clang++ 16 or later compiles them with hone's own device
/// headers and run-time to the same kind of shared object as C++ kernels. kUnavailable without clang.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> simt_toolchain();

/// What judges kernels of `language`, a GPU's, without a device: the emulator's, or for Triton the interpreter's (docs/triton.md). Those for
/// CUDA and HIP take TileLang kernels too, as that language (docs/tilelang.md).
[[nodiscard]] Result<std::unique_ptr<Toolchain>> emulator_toolchain(kernel::Language language);

/// CUDA for a card of architecture `arch` ("sm_90a"), as a cubin; needs no card. Static facts a function of the plan:
/// "registers/F" (a thread), "spill_bytes/F" (stored and loaded a thread), "stack_bytes/F", "static_shared_bytes/F",
/// "constant_bytes/F" (parameters and __constant__), "code_bytes/F", "max_threads/F" (of a block), and where it was asked
/// for and there is a disassembler "mix/F/NAME", counts in the code of FFMA, LDG.128, …, with "mix/F/all" all of them. Of the whole:
/// "writable_global_bytes" (initialised tables count, const or not). What the tools did not say is absent.
/// A kernel that ships built (shipped.h) is not compiled where it was made by the release of the compiler that is here (NVRTC's, if
/// both are). With no compiler for `arch` those that ship are all there is, and any other is a BuildFailure.
/// kUnavailable with what to install; kInput for an architecture that the compiler does not know.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> cuda_toolchain(std::string arch);

/// HIP for an AMD card of architecture `arch` ("gfx90a", "gfx942", "gfx950"), as a code object, by clang 22 without ROCm, or out of
/// a pack as CUDA's. Facts as of CUDA where they mean the same; "registers/F" counts a lane's vector registers, accumulators ("agprs/F") included;
/// also "sgprs/F", "spilled_vgprs/F", "spilled_sgprs/F" (registers, not bytes). The mix needs llvm-objdump.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> hip_toolchain(std::string arch);

/// By "cuda:ARCH" or "hip:ARCH"; kUsage for anything else.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> gpu_toolchain(std::string_view target);

/// What builds for cards here, without one: for hone targets.
struct CardCompiler {
  std::string toolchain;                       ///< "nvcc 13.0.88"
  std::vector<std::string> archs;              ///< what may follow "cuda:" or "hip:"
  std::string disassembler;                    ///< counts instructions; empty: none, so there is no mix
  std::string shipped;                         ///< "431 kernels for sm_90a by NVRTC 13.0", compiled ahead of time; empty: none
};
[[nodiscard]] Result<CardCompiler> cuda_compiler();
[[nodiscard]] Result<CardCompiler> hip_compiler();

/// Every language that this machine runs: each kernel goes to the toolchain of its language. Needs a C++
/// compiler; the others are looked for when a kernel asks for them. Its name is the C++ one's.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> local_toolchain();

/// Writes hone's own device headers (hone/cpu.h) into the cache and returns the folder to include.
[[nodiscard]] Result<std::filesystem::path> device_headers();
/// Of their names and contents.
[[nodiscard]] std::string device_headers_hash();

}  // namespace hone::target
