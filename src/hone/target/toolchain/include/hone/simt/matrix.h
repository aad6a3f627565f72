// Matrix units on the emulator: each lane says what it holds, and when all are there, what they hold is put together.
// Registers are no memory, so none of that is an access; nor does it order anything. How exact the products are:
// runtime/matrix.h.
#pragma once
#include "hone/simt/matrix_call.h"

namespace hone::simt {

/// c += a * b on 16 x 8 with fragments as mma.sync has them: m16n8k8 of TF32, m16n8k16 of the others.
inline void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, MatrixOp op, HONE_LINE) {
  MatrixCall call = {op, {c[0], c[1], c[2], c[3]}, {a[0], a[1], a[2], a[3]}, {b0, b1}, {}};
  hone_simt_collective(kMatrix, kAllLanes, reinterpret_cast<uint64_t>(&call), 0, 1, line);
  for (int i = 0; i < 4; ++i) c[i] = call.c[i];
}

/// What every lane gave as `mine`.
inline void all_rows(const void* mine, const void* (&rows)[32], HONE_LINE) {
  MatrixCall call = {MatrixOp::kRows, {}, {}, {}, {mine}};
  hone_simt_collective(kMatrix, kAllLanes, reinterpret_cast<uint64_t>(&call), 0, 1, line);
  for (int i = 0; i < 32; ++i) rows[i] = call.rows[i];
}

}  // namespace hone::simt
