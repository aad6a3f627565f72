// What a lane brings to a matrix operation and takes away. Plain data, laid out alike in kernel and run-time.
#pragma once
#include <stdint.h>

namespace hone::simt {

/// What is multiplied. kRows is no product: every lane learns what all lanes brought.
enum class MatrixOp : int32_t { kTf32, kBf16, kF16, kI8, kF32, kRows, kE4M3, kE5M2 };

struct MatrixCall {
  MatrixOp op;
  int32_t line;          ///< where the kernel asks for it
  int32_t size;          ///< MFMA: rows and columns of the product, 16 or 32
  int32_t each;          ///< MFMA: neighbours along the depth that a lane holds of either factor
  uint32_t c[16];        ///< in and out: floats, or integers for kI8
  uint32_t a[4], b[4];   ///< factors, packed, the first in the low bits
  const void* rows[32];  ///< kRows: in the first, all lanes' out
};

}  // namespace hone::simt
