// How much of the sources' opinions to believe, given what was measured here: each source counts by its rank
// correlation with the measurements, so that one that misleads loses its say. Pure.
#pragma once
#include <span>
#include <vector>

namespace hone::search::tune {

/// Spearman's; 0 for fewer than three values or without spread.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

/// Weight of each source in [0, 1], from its opinions of the points measured and their log costs. With nothing
/// measured all have 1; `guard` off: always.
[[nodiscard]] std::vector<double> source_weights(std::span<const std::vector<double>> opinions, std::span<const double> values,
                                                 bool guard);

}  // namespace hone::search::tune
