// The tuner for a kernel's tunables: its space is what the header lists and its constraints allow under the device's
// limits. Deterministic for its seed and what it is told. One thread.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/search/recollection.h"
#include "hone/search/tune/tuner.h"

namespace hone::search::tune {

/// The values of the tunables as the header lists them, what its constraints exclude left out. kInput where nothing is left.
[[nodiscard]] Result<Space> tunables_space(const kernel::Header& header, const kernel::Limits& limits);
/// A point of that space as a configuration.
[[nodiscard]] kernel::Config config_at(const std::vector<kernel::Tunable>& tunables, const Point& point);

/// What setting one tunable to a value is expected to do.
struct Effect {
  std::string tunable;
  int64_t to = 0;
  double log_gain = 0;   ///< logarithm of time before / time after
};

class TunablesTuner {
 public:
  /// `warm`: what was measured of these tunables elsewhere; configurations that name others are left out.
  TunablesTuner(const kernel::Header& header, const kernel::Limits& limits, uint64_t seed, std::span<const Recollection> warm = {});

  struct Suggestion {
    kernel::Config config;
    std::optional<Belief> belief;  ///< of its log cost; nothing where no model was asked
  };
  /// Nothing when every configuration was asked for or told.
  [[nodiscard]] std::optional<Suggestion> ask();
  /// `cost`: lower is better; nothing for one that was refused.
  void tell(const kernel::Config& config, std::optional<double> cost);
  /// What setting one tunable is expected to do to a configuration that was told.
  void hint(const kernel::Config& config, std::span<const Effect> effects);
  /// Somebody chose a configuration that was told: each tunable that leaves it is expected to cost something.
  void chosen_well(const kernel::Config& config);
  /// The candidates among which the models chose last.
  [[nodiscard]] std::vector<kernel::Config> looked_at() const;

 private:
  std::vector<kernel::Tunable> tunables_;
  std::unique_ptr<Tuner> tuner_;     ///< null where there is nothing to choose
};

}  // namespace hone::search::tune
