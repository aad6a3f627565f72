#include "hone/search/bandit.h"

#include <algorithm>
#include <cmath>

#include "hone/base/result.h"

namespace hone::search {

Bandit::Bandit(size_t arms, double curiosity, double fading) : curiosity_(curiosity), fading_(fading), arms_(arms) {}

std::optional<size_t> Bandit::choose(std::span<const bool> able) const {
  HONE_CHECK(able.size() == arms_.size());
  double total = 0, best_rate = 0;
  for (const Arm& arm : arms_) {
    total += arm.asked;
    if (arm.seconds > 0) best_rate = std::max(best_rate, arm.gain / arm.seconds);
  }
  std::optional<size_t> chosen;
  double most = 0;
  for (size_t i = 0; i < arms_.size(); ++i) {
    if (!able[i]) continue;
    const Arm& arm = arms_[i];
    if (!arm.ever) return i;
    const double rate = arm.seconds > 0 && best_rate > 0 ? arm.gain / arm.seconds / best_rate : 0;
    const double bound = rate + curiosity_ * std::sqrt(std::log(1 + total) / std::max(arm.asked, 1e-3));
    if (!chosen || bound > most) chosen = i, most = bound;
  }
  return chosen;
}

void Bandit::asked(size_t arm) {
  for (Arm& other : arms_) other.asked *= fading_;
  arms_[arm].asked += 1;
  arms_[arm].ever = true;
}

void Bandit::told(size_t arm, double factor, double seconds) {
  for (Arm& other : arms_) other.gain *= fading_, other.seconds *= fading_;
  arms_[arm].gain += factor > 1 ? std::log(factor) : 0;
  arms_[arm].seconds += seconds > 0 ? seconds : 1;
}

}  // namespace hone::search
