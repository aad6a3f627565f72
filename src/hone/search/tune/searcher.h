// What proposes configurations and is told what they cost. A deterministic function of its seed and of what it is
// told, in order; no clock, no device. One thread.
#pragma once
#include <optional>
#include <vector>

#include "hone/search/tune/space.h"

namespace hone::search::tune {

class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Up to `most` points not given before, best first. Empty when there are none left.
  [[nodiscard]] virtual std::vector<Point> ask(int most) = 0;
  /// What a point costs (positive; lower is better), nothing for one that does not build, run or pass. Points that
  /// were never asked for are welcome: they are learnt from, too.
  virtual void tell(const Point& point, std::optional<double> cost) = 0;
};

}  // namespace hone::search::tune
