// Measurements of a source's configurations that come from somewhere else. Plain values.
#pragma once
#include <optional>
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::search {

/// What memory says of configurations of one source, learnt in another run.
struct Recollection {
  std::vector<kernel::Config> configs;
  std::vector<std::optional<double>> costs;  ///< of each, in whatever unit; nothing for one that was refused
  template <class F>
  void fields(F& f) {
    f("configs", configs, "settings of the tunables");
    f("costs", costs, "1 / speedup of each, null where it was refused");
  }
};

}  // namespace hone::search
