// Matrix units on the emulator: each lane says what it holds, and when all are there, what they hold is put together.
// Registers are no memory, so none of that is an access; nor does it order anything. How exact the products are:
// runtime/matrix.h for NVIDIA's, runtime/mfma.h for AMD's.
#pragma once
#include "hone/simt/group_call.h"
#include "hone/simt/matrix_call.h"
#include "hone/simt/tensor_call.h"

HONE_SIMT_CALL void hone_simt_group(int op, hone::simt::GroupState* state, const hone::simt::GroupProduct* product, int value);
HONE_SIMT_CALL void hone_simt_tensor_copy(void* to, const hone::simt::TensorTile* tile, void* barrier, uint32_t blocks);

namespace hone::simt {

template <int N>
inline void copy_fragment(uint32_t* to, const void* from) {
  static_assert(N > 0 && N <= 16);
  __builtin_memcpy(to, from, N * sizeof(uint32_t));
}
inline void meet(MatrixCall& call) { hone_simt_collective(kMatrix, kAllLanes, reinterpret_cast<uint64_t>(&call), 0, 1, call.line); }

/// c += a * b on 16 x 8 with fragments as mma.sync has them: m16n8k8 of TF32, m16n8k16 of 16-bit types, m16n8k32 of i8.
/// C: float, or int32_t for i8.
template <class C>
inline void mma(C (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, MatrixOp op, int line) {
  MatrixCall call;
  call.op = op, call.line = line, call.size = 0, call.each = 0;
  copy_fragment<4>(call.c, c);
  copy_fragment<4>(call.a, a);
  call.b[0] = b0, call.b[1] = b1;
  meet(call);
  __builtin_memcpy(c, call.c, sizeof c);
}

/// c += a * b on size x size with fragments as MFMA has them, `each` elements of a row of a (a column of b) a lane.
template <int N, int Words, class C>
inline void mfma(C (&c)[N], const uint32_t (&a)[Words], const uint32_t (&b)[Words], MatrixOp op, int size, int each, int line) {
  MatrixCall call;
  call.op = op, call.line = line, call.size = size, call.each = each;
  copy_fragment<N>(call.c, c);
  copy_fragment<Words>(call.a, a);
  copy_fragment<Words>(call.b, b);
  meet(call);
  __builtin_memcpy(c, call.c, sizeof c);
}

/// What every lane gave as `mine`.
inline void all_rows(const void* mine, const void* (&rows)[32], int line) {
  MatrixCall call;
  call.op = MatrixOp::kRows, call.line = line, call.size = 0, call.each = 0;
  call.rows[0] = mine;
  meet(call);
  for (int i = 0; i < 32; ++i) rows[i] = call.rows[i];
}

/// Rows lane / 4 and lane / 4 + 8 of a factor of 16 x 8 words, of which each lane has those of mma_tf32.
inline void rows_from_lanes(const uint32_t (&mine)[4], uint32_t (&rows)[2][8], int line) {
  for (uintptr_t i = 0; i < 4; ++i) {
    const void* words[32];
    all_rows(reinterpret_cast<const void*>(uintptr_t{mine[i]}), words, line);
    for (int t = 0; t < 4; ++t) rows[i % 2][i / 2 * 4 + t] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(words[hone_simt_lane() / 4 * 4 + t]));
  }
}

/// The lanes of a warp come to an operation of their group, all with the same factors, or all trap.
inline void meet_group(const void* a, const void* b, int line) {
  const void *all_a[32], *all_b[32];
  all_rows(a, all_a, line);
  all_rows(b, all_b, line);
  for (int i = 1; i < 32; ++i)
    if (all_a[i] != all_a[0] || all_b[i] != all_b[0]) hone_simt_trap(line);
}

}  // namespace hone::simt
