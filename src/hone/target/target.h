// Places where kernels are built and run: this machine's CPU, a card, a GPU that is emulated. What anybody above needs to
// know of a place stands here as values and calls, so that nobody asks what its name begins with. A new kind of place is a
// row of the registry (targets.cc). Thread-safe.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/target/card.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// Where a kernel is (to be) verified, as records and champions' files say it.
struct Place {
  std::string target;      ///< "cpu"
  std::string device;      ///< model, instruction set, threads
  std::string toolchain;   ///< "g++ 12.2.0"
};

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] virtual const Place& place() const = 0;
  /// Those that its kernels may be written in, the one that hone writes first in front.
  [[nodiscard]] virtual const std::vector<kernel::Language>& languages() const = 0;
  /// Builds for all of them.
  [[nodiscard]] virtual const std::shared_ptr<Toolchain>& toolchain() const = 0;
  /// What plans may ask for: THREADS, SMS, SHARED_MAX, …
  [[nodiscard]] virtual const kernel::Limits& limits() const = 0;
  /// Whether it knows time: else it gives verdicts and nothing else.
  [[nodiscard]] virtual bool has_clock() const = 0;
  /// Threads that run kernels, of a CPU.
  [[nodiscard]] virtual int threads() const { return 1; }
  /// The card it is; null for any other place.
  [[nodiscard]] virtual std::shared_ptr<Card> card() const { return nullptr; }

  [[nodiscard]] bool takes(kernel::Language language) const;
};

struct TargetOptions {
  int threads = 0;         ///< of a CPU; 0: all
};

/// Opens "cpu", "cuda:0", "emulator:hip", … kUsage for what is no target's name; kUnavailable with what is missing here.
[[nodiscard]] Result<std::shared_ptr<Target>> open_target(const std::string& name, const TargetOptions& options = {});

/// What `name` is, without opening it: kUsage, with the names there are, for none.
[[nodiscard]] Status check_target_name(const std::string& name);
/// Languages that kernels for it may be written in; empty for what is no target's name.
[[nodiscard]] std::vector<kernel::Language> languages_of(std::string_view name);
/// What its plans may ask for, without opening it: of a card that is not here, those of the emulated one. kUsage as above.
[[nodiscard]] Result<kernel::Limits> limits_of(const std::string& name);
/// Where a kernel of that language runs on any machine: "cpu", "emulator:cuda", …; empty: nowhere.
[[nodiscard]] std::string home_of(kernel::Language language);
/// Whether the target of that name knows time.
[[nodiscard]] bool has_clock(std::string_view name);

}  // namespace hone::target
