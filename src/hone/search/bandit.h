// Which of several proposers to ask next, by what each has gained a second. One thread; deterministic.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hone::search {

/// Upper confidence bounds (UCB1: Auer, Cesa-Bianchi and Fischer, 2002) on rates: the logarithm of the factor by which the best
/// improved, 0 where it did not, over seconds, both fading, as gains get rarer for everybody.
class Bandit {
 public:
  /// `curiosity` scales what is added for having been asked seldom, in units of the best rate.
  explicit Bandit(size_t arms, double curiosity = 0.5, double fading = 0.9);
  /// Of those that are able, one that was never asked, in order, else the one with the greatest bound. Nothing where none is able.
  [[nodiscard]] std::optional<size_t> choose(std::span<const bool> able) const;
  /// It was chosen: more of a batch is chosen before anything is told.
  void asked(size_t arm);
  /// `factor`: new best over the one before, or less than 1. `seconds` at most 0 count as one.
  void told(size_t arm, double factor, double seconds);

 private:
  struct Arm {
    double gain = 0, seconds = 0;  ///< fading sums
    double asked = 0;              ///< likewise
    bool ever = false;
  };
  double curiosity_, fading_;
  std::vector<Arm> arms_;
};

}  // namespace hone::search
