// Bulk copies of a tensor's tiles, as kernel and run-time share them. Plain data, laid out alike in both.
#pragma once
#include <stdint.h>

namespace hone::simt {

/// A tile in global memory: `rows` rows, each `step` bytes behind the one before, 128 bytes of each. So many of the rows, and of
/// each row's bytes, are in the tensor; what is not is 0.
struct TensorTile {
  const char* from;
  int64_t step;
  int32_t rows, inside_rows, inside_bytes;
};
constexpr int32_t kTileRow = 128;   ///< bytes

}  // namespace hone::simt
