// Which of the timed calls are judged: so many, chosen at random after they have run, that garbage in a small share of
// them is found. Pure but for the operating system's entropy.
#pragma once
#include <span>
#include <vector>

namespace hone::evaluate {

/// Share of calls, or of a call's elements, whose garbage is to be found, and how likely it is in a promotion and in a
/// screening of one workload.
inline constexpr double kGarbageShare = 0.03, kFoundInPromotion = 0.999, kFoundInScreening = 0.9;

/// Fewest calls chosen at random that hold one of the share with this probability: 1 - (1 - share)^calls >= probability.
[[nodiscard]] int calls_to_judge(double share, double probability);

/// `count` of `calls` (or all, if there are fewer), each as likely as any other, by a seed that is drawn now.
[[nodiscard]] std::vector<int> choose_judged(std::span<const int> calls, int count);

}  // namespace hone::evaluate
