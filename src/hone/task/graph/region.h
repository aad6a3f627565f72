// Which elements of a tensor are needed: unions of strided boxes. Where a union is too intricate to
// follow, what is kept is smaller than the truth, so that costs stay lower bounds. Pure values.
#pragma once
#include <cstdint>
#include <vector>

#include "hone/task/types.h"

namespace hone::task {

struct Range {
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
  [[nodiscard]] int64_t last() const { return start + (count - 1) * step; }
  friend bool operator==(const Range&, const Range&) = default;
};

using Region = std::vector<Range>;  ///< one range an axis

[[nodiscard]] Region whole_region(const Shape& shape);
[[nodiscard]] double volume(const Region& region);
[[nodiscard]] bool is_whole(const Region& region, const Shape& shape);

/// The part of a tensor that something needs.
class Need {
 public:
  void add(Region region);
  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }
  [[nodiscard]] bool empty() const { return regions_.empty(); }
  /// Elements in the union (at least; exact for few boxes without steps).
  [[nodiscard]] double count() const;

 private:
  std::vector<Region> regions_;
};

/// The elements of `region` (of a tensor of shape `from`) in the row-major reshape to `to`.
[[nodiscard]] Region reshape_region(const Region& region, const Shape& from, const Shape& to);

}  // namespace hone::task
