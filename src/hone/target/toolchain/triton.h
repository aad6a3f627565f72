// Triton kernels (docs/triton.md) built: to the text that the interpreter runs, and to binaries for cards. All three are
// toolchains as toolchain.h has them; kUnavailable without Triton.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// For emulator:triton. The artifact is text: a line of the launches' functions, then a TTIR module of each function. Facts: none
/// but "dots/F" and "loads/F", counts in the text. The runner is the interpreter.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> ttir_toolchain();

/// For a card, by "cuda:ARCH" or "hip:ARCH". Facts as of CUDA and HIP, and "dynamic_shared_bytes/F" (a block), "scratch_bytes/F"
/// (a block, of the launch's own). What Triton says of a binary counts where the binary says the same.
/// Without Triton, what packs hold (shipped.h), where they hold any.
[[nodiscard]] Result<std::unique_ptr<Toolchain>> triton_toolchain(std::string target);
/// Whether Triton or a pack is here that builds for it.
[[nodiscard]] bool builds_triton(const std::string& target);

/// Triton on a card beside the card's own language: looked for when a kernel asks for it.
class OtherLanguage {
 public:
  explicit OtherLanguage(std::string target) : target_(std::move(target)) {}
  Result<Toolchain*> toolchain();

 private:
  std::string target_;
  std::mutex mutex_;
  std::unique_ptr<Toolchain> triton_;
};

}  // namespace hone::target
