// Kernels that ship built: the packs of this process, and how a kernel is named in one. Thread-safe.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/pack.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::target {

/// The packs that there are: the files that $HONE_PACKS names (with colons between them), then the program's own. None where
/// it is "none". A pack that is damaged, or is none, is left out, with a line on standard error the first time.
class ShippedBuilds {
 public:
  /// `family`: what is said below is of architectures that begin so ("sm_", "gfx").
  [[nodiscard]] static ShippedBuilds here(std::string_view family = {});

  struct Found {
    const Pack* pack = nullptr;
    const Pack::Entry* entry = nullptr;
  };
  /// The first of this key that `fits`, by its entry. Lives as long as the packs.
  template <class Fits>
  [[nodiscard]] std::optional<Found> find(std::string_view key, Fits fits) const {
    for (const auto& pack : packs_)
      if (const auto it = pack->entries().find(key); it != pack->entries().end() && fits(it->second)) return Found{pack.get(), &it->second};
    return std::nullopt;
  }
  /// "431 kernels for sm_90a by NVRTC 13.0"; empty where there are none. `arch`: for that one only, where it is not empty.
  [[nodiscard]] std::string to_string(std::string_view arch = {}) const;
  [[nodiscard]] std::vector<std::string> archs() const;
  [[nodiscard]] std::vector<std::string> toolchains(std::string_view arch = {}) const;

 private:
  [[nodiscard]] bool counts(const Pack::Entry& entry, std::string_view arch) const;

  std::string family_;
  std::vector<std::shared_ptr<const Pack>> packs_;
};

/// What names a CUDA kernel in a pack: the same on every machine that has this hone, whichever compiler is there. A hash of the unit,
/// the device headers, the architecture and what the compilers are told; of no path. kInput as gpu_unit().
[[nodiscard]] Result<std::string> cuda_key(std::string_view arch, const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                                           std::string_view optimisation = "-O3");

/// What a pack has, looked over as what a compiler made (`look_over` puts symbols and facts into the build, or says why it is not taken), and kept
/// in the cache apart from it, under a name of its key and `salt`. Nothing, and a line on standard error, where it is not right.
[[nodiscard]] Result<std::optional<Build>> build_of(const ShippedBuilds::Found& found, const std::string& key, const std::string& salt,
                                                    const std::function<Result<std::string>(const std::filesystem::path& file, Build& build)>& look_over);

/// What a pack holds of a build with a `key`: its binary, and of one that was lowered first, the text that it came from.
[[nodiscard]] Result<std::vector<PackedBuild>> packed_of(const Build& build);

/// A line on standard error, once in this process however often it is said.
void warn_once(const std::string& line);

/// What a toolchain is called that did not compile here: "NVRTC 13.0, shipped"; whether it is; and back.
[[nodiscard]] std::string as_shipped(std::string_view toolchain);
[[nodiscard]] bool is_shipped(std::string_view toolchain);
[[nodiscard]] std::string without_shipped(std::string_view toolchain);
/// "13.0" of "NVRTC 13.0", "nvcc 13.0.88": two of the same release have the same compiler inside.
[[nodiscard]] std::string release_of(std::string_view toolchain);

}  // namespace hone::target
