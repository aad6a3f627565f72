// Evolution: several islands, each with the best kernel of every behaviour it has come across (MAP-Elites), that change and cross
// what they have and now and then pass on their best. A strategy like any other; its parts can be left out, for ablations.
#pragma once
#include <memory>
#include <vector>

#include "hone/search/strategy.h"

namespace hone::search {

struct EvolutionOptions {
  int islands = 3;
  int migration = 8;       ///< an island passes on its best after so many answers; 0: never
  bool behaviours = true;  ///< a place for each behaviour; else one for all
  bool bandit = true;      ///< who changes a parent (below) is chosen by gain a second; else in turn
  bool tuner = true;       ///< the tuner's suggestion is one of the ways to change a parent, beside mutation and crossing
};

/// `seeds` in order of promise, each looked at once before any is changed. `limits` for the tunables' constraints.
[[nodiscard]] std::unique_ptr<Strategy> make_evolution(std::vector<Seed> seeds, const kernel::Limits& limits, uint64_t seed,
                                                       const EvolutionOptions& options = {});

}  // namespace hone::search
