// What the tuner is compared with: random draws, and a genetic algorithm. One thread; deterministic.
#pragma once
#include <cstdint>
#include <memory>

#include "hone/search/tune/searcher.h"

namespace hone::search::tune {

/// Uniform over the space's points, none twice. `space` outlives it.
[[nodiscard]] std::unique_ptr<Searcher> random_search(const Space& space, uint64_t seed);

/// Generations of twenty: parents by rank, each parameter of either parent, one in ten replaced by any of its values;
/// what conditions exclude is bred again. Points known from earlier generations cost nothing. `space` outlives it.
[[nodiscard]] std::unique_ptr<Searcher> genetic_search(const Space& space, uint64_t seed);

}  // namespace hone::search::tune
