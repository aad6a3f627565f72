// Confidence sequences: intervals that hold at every sample size at once, so a sampler may look
// after each sample and stop whenever it likes. Pure functions; alpha is the chance that a
// sequence ever misses the truth. Too few values give the whole line, never an error.
#pragma once
#include <span>

#include "hone/evaluate/compare/statistics.h"

namespace hone::evaluate {

/// Evidence against a fair coin after `heads` of `n` tosses: the wealth of a gambler who starts
/// with 1 and bets at fair odds with the Krichevsky-Trofimov estimate. By Ville's inequality it
/// ever reaches 1/alpha with probability at most alpha if the coin is fair. Natural logarithm.
[[nodiscard]] double log_coin_wealth(int heads, int n);

/// For the median of independent values, with no other assumption: all medians that the coin
/// "above or below" does not refute. Its ends are order statistics. `sorted` ascends.
[[nodiscard]] Interval median_sequence(std::span<const double> sorted, double alpha);

/// For the mean of independent normal values of unknown spread: the t test that mixes over the
/// standardised effect, N(0, scale^2) (Lai 1976; Perez-Ortiz et al. 2022 for stopping at any time).
/// A larger scale favours large effects seen in few values.
[[nodiscard]] Interval mean_sequence(std::span<const double> values, double alpha, double scale);

/// Effects expected across processes, in standard deviations of a process median. From 2
/// to 6 the simulations of compare_slow_test.cc come out much the same.
inline constexpr double kEffectScale = 3.0;
/// What the two tests over process medians may err, as shares of alpha: the t test is the sharper one
/// where medians are near normal, the signs are what is left where one process in five is far off.
inline constexpr double kShareOfT = 0.75;
inline constexpr double kShareOfSigns = 0.25;

}  // namespace hone::evaluate
