// Asynchronous copies into shared memory word by word, and NVIDIA's matrix units as mma.sync and ldmatrix reach them
// (sm_80 and later). On the emulator a matrix product of floating types is at least as inaccurate as the hardware's:
// addends are cut at the largest one's last bit but one before they are summed (simt/runtime/matrix.h).
#pragma once
#include "hone/gpu/prim.h"

namespace hone::prim {

#if !HONE_EMULATED
HONE_DEVICE uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
#endif

/// A thread's copies from global into shared memory that go on while it computes. They are there for the thread
/// after wait(), for the others after a barrier behind that. On the emulator nothing arrives before it is waited for,
/// and a wrong boundary traps.
class AsyncCopies {
 public:
  /// Bytes (4, 8 or 16; both addresses are multiples of it) from `from` to `to`; zeros where `inside` is false.
  template <int Bytes>
  HONE_DEVICE void copy(void* to, const void* from, bool inside) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies words");
#if HONE_EMULATED
    if (count_ == kMost || reinterpret_cast<uintptr_t>(to) % Bytes != 0 || reinterpret_cast<uintptr_t>(from) % Bytes != 0) __trap();
    pending_[count_++] = {to, from, Bytes, group_, inside};
    hone_simt_issue_copy(to, Bytes);
    asm volatile("" ::: "memory");  // no tail call: where it returns to is where it is called
#else
    const int size = inside ? Bytes : 0;
    if constexpr (Bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(size) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(Bytes), "r"(size) : "memory");
#endif
  }
  /// The copies since the last commit are a group.
  HONE_DEVICE void commit() {
#if HONE_EMULATED
    ++group_;
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  /// Until at most the Latest youngest groups are on their way.
  template <int Latest>
  HONE_DEVICE void wait() {
#if HONE_EMULATED
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Copy c = pending_[i];
      if (c.group >= group_ - Latest) pending_[kept++] = c;
      else if (c.bytes == 16) *static_cast<uint4*>(c.to) = c.inside ? *static_cast<const uint4*>(c.from) : uint4{0, 0, 0, 0};
      else if (c.bytes == 8) *static_cast<uint2*>(c.to) = c.inside ? *static_cast<const uint2*>(c.from) : uint2{0, 0};
      else *static_cast<uint32_t*>(c.to) = c.inside ? *static_cast<const uint32_t*>(c.from) : 0;
    }
    count_ = kept;
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(Latest) : "memory");
#endif
  }

 private:
#if HONE_EMULATED
  struct Copy {
    void* to;
    const void* from;
    int bytes, group;
    bool inside;
  };
  static constexpr int kMost = 512;
  Copy pending_[kMost];
  int count_ = 0, group_ = 0;
#endif
};

/// Four 8 x 8 matrices of 16-bit elements from shared memory: lane 8 m + r gives the address of row r of matrix m, 16
/// bytes; lane 4 r + c gets elements 2 c and 2 c + 1 of row r of matrix m in word m. Rows of four 32-bit elements
/// come out one a lane.
HONE_DEVICE void ldmatrix(uint32_t (&words)[4], const void* row, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  const void* rows[32];
  hone::simt::all_rows(row, rows, line);
  for (int m = 0; m < 4; ++m) words[m] = static_cast<const uint32_t*>(rows[8 * m + lane() / 4])[lane() % 4];
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(row)) : "memory");
#endif
}
/// The same, each matrix transposed on its way: lane 4 r + c gets rows 2 c and 2 c + 1 at column r.
HONE_DEVICE void ldmatrix_transposed(uint32_t (&words)[4], const void* row, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  const void* rows[32];
  hone::simt::all_rows(row, rows, line);
  for (int m = 0; m < 4; ++m) {
    const auto* even = static_cast<const uint16_t*>(rows[8 * m + lane() % 4 * 2]);
    const auto* odd = static_cast<const uint16_t*>(rows[8 * m + lane() % 4 * 2 + 1]);
    words[m] = even[lane() / 4] | static_cast<uint32_t>(odd[lane() / 4]) << 16;
  }
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(row)) : "memory");
#endif
}

/// To the nearest number of 11 significant bits, as a float's word; ties away from zero.
HONE_DEVICE uint32_t to_tf32(float v) {
#if HONE_EMULATED
  const uint32_t bits = __float_as_uint(v);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
#else
  uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(v));
  return word;
#endif
}

// c += a * b on a warp's 16 x 8 tile. With r = lane / 4 and t = lane % 4:
//   c[0], c[1]  row r, columns 2 t and 2 t + 1;  c[2], c[3]  row r + 8
//   32 bits, depth 8:  a[0] row r, depth t;  a[1] row r + 8;  a[2], a[3] depth t + 4;  b[0] depth t, column r;  b[1] depth t + 4
//   16 bits, depth 16: the same of pairs, depths 2 t and 2 t + 1, and 8 further
//   8 bits, depth 32: the same of fours, depths 4 t to 4 t + 3, and 16 further

/// m16n8k8; the words of a and b are floats of which the matrix units look at 19 bits.
HONE_DEVICE void mma_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  hone::simt::mma(c, a, b0, b1, hone::simt::MatrixOp::kTf32, line);
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
/// m16n8k16 of bf16.
HONE_DEVICE void mma_bf16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  hone::simt::mma(c, a, b0, b1, hone::simt::MatrixOp::kBf16, line);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
/// m16n8k16 of f16.
HONE_DEVICE void mma_f16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  hone::simt::mma(c, a, b0, b1, hone::simt::MatrixOp::kF16, line);
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
/// m16n8k32 of signed bytes; sums are exact modulo 2^32.
HONE_DEVICE void mma_i8(int32_t (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  hone::simt::mma(c, a, b0, b1, hone::simt::MatrixOp::kI8, line);
#else
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

}  // namespace hone::prim
