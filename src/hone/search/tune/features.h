// Points as numbers that models compare: a logarithm for values that span a range, how often two divides a size
// (alignment), one column a value for what has no order. Pure; thread-safe.
#pragma once
#include <vector>

#include "hone/search/tune/space.h"

namespace hone::search::tune {

class Features {
 public:
  explicit Features(const Space& space);
  /// Columns; each within [0, 1].
  [[nodiscard]] size_t size() const { return size_; }
  void encode(const Point& point, float* out) const;

 private:
  struct Column {
    size_t first = 0, count = 0;              ///< of the encoded row
    std::vector<std::vector<float>> values;   ///< value's index -> its numbers
  };
  std::vector<Column> columns_;               ///< by parameter
  size_t size_ = 0;
};

}  // namespace hone::search::tune
