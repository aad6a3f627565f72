// What the rules of CPUs and of cards share: causes with the share of the time that each keeps, actions with the gain that
// follows from it, and the diagnosis in the end. One kernel's; not thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/diagnose/rules.h"
#include "hone/diagnose/tunable_role.h"

namespace hone::diagnose {

class Reckoner {
 protected:
  Reckoner(const Metrics& metrics, const Subject& subject) : metrics_(metrics), subject_(subject) {}

  struct Cause {
    std::string_view name;
    double saved;
    std::string says;
    std::vector<std::string_view> metrics;
  };

  [[nodiscard]] std::vector<Metric> evidence(const std::vector<std::string_view>& names) const;
  /// A cause that keeps `saved` of the time (before any action's reach), never more than room_; what it keeps.
  double cause(std::string_view name, double saved, std::string says, std::vector<std::string_view> metrics);
  void act(Action::Kind kind, std::string name, int64_t from, int64_t to, std::string_view cause, double saved, double reach, std::string why);
  void rewrite(std::string name, std::string_view cause, double saved, double reach, const std::string& why) {
    act(Action::Kind::kRewrite, std::move(name), 0, 0, cause, saved, reach, why);
  }
  /// The next value of each tunable of `role` in a direction (-1, +1).
  void tune(Role role, int direction, std::string_view cause, double saved, double reach, const std::string& why);
  /// Sorts the actions and names the largest cause; `otherwise` where none keeps more than a fiftieth of the time.
  struct Otherwise {
    std::string_view name;
    std::string says;
    std::vector<std::string_view> metrics;
  };
  void conclude_with(Diagnosis& out, const Otherwise& otherwise);

  const Metrics& metrics_;
  const Subject& subject_;
  double room_ = 1;               ///< the most that any repair may save, of the time
  std::vector<Cause> causes_;
  std::vector<Action> actions_;
};

/// The rules for cards (docs/diagnosis_cards.md); diagnose() calls them for kernels of GPUs.
[[nodiscard]] Diagnosis diagnose_card(const Metrics& metrics, const Subject& subject);

}  // namespace hone::diagnose
