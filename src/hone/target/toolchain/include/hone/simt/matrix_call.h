// What a lane brings to a matrix operation and takes away. Plain data, laid out alike in kernel and run-time.
#pragma once
#include <stdint.h>

namespace hone::simt {

enum class MatrixOp : int32_t { kTf32, kBf16, kF16, kRows };

struct MatrixCall {
  MatrixOp op;
  float c[4];           ///< in and out
  uint32_t a[4], b[2];
  const void* rows[32]; ///< kRows: in the first, all lanes' out
};

}  // namespace hone::simt
