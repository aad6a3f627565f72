// Matrix products of a group of four warps (wgmma, sm_90a). Both factors lie in shared memory; the sums are registers that
// the units fill in while the threads go on.
//
//   hone::prim::GroupProducts products;
//   products.fence();                                   once the sums are free for the units
//   products.multiply(sums, a, b, false);               as often as wanted; false: the sums begin at zero
//   products.commit();                                  what was issued since the last commit is a batch
//   products.wait<0>(sums);                             then they may be read, and shared memory written
//
// A group is warps 4 g to 4 g + 3 of a block, and all its threads make the same calls with the same factors.
#pragma once
#include "hone/gpu/prim.h"

namespace hone::prim {

/// A factor in shared memory: bricks of 8 lines x 8 neighbours in depth, 128 bytes each, a line's 16 bytes after the other's.
/// `next_depth` and `next_lines`: bytes to the brick 8 further in depth, and in lines; multiples of 16, as is the address.
/// What threads themselves have written there needs async_fence() before the barrier behind which it is multiplied.
class GroupFactor {
 public:
  HONE_DEVICE GroupFactor(const void* first, int next_depth, int next_lines)
#if HONE_EMULATED
      : first_(static_cast<const char*>(first)), next_depth_(next_depth), next_lines_(next_lines) {}
#else
      : word_((shared_address(first) & 0x3ffffu) >> 4 | static_cast<uint64_t>(next_depth >> 4) << 16 |
              static_cast<uint64_t>(next_lines >> 4) << 32) {}
#endif
  /// The factor that begins `bytes` further, a multiple of 16.
  HONE_DEVICE GroupFactor after(int bytes) const {
    GroupFactor moved = *this;
#if HONE_EMULATED
    moved.first_ += bytes;
#else
    moved.word_ += static_cast<uint32_t>(bytes >> 4);
#endif
    return moved;
  }

 private:
  friend class GroupProducts;
#if HONE_EMULATED
  const char* first_;
  int next_depth_, next_lines_;
#else
  uint64_t word_;
#endif
};

#if !HONE_EMULATED
// Registers 0 to 31, 63, 127 of a product in the words of PTX, and as operands.
#define HONE_SUMS_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
  ", " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HONE_SUMS_64 HONE_SUMS_32 \
  ", " "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", " "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HONE_SUMS_128 HONE_SUMS_64 \
  ", " "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", " "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95" \
  ", " "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", " "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HONE_SUM_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define HONE_SUM_16(i) HONE_SUM_4(i), HONE_SUM_4(i + 4), HONE_SUM_4(i + 8), HONE_SUM_4(i + 12)
#define HONE_SUM_32(i) HONE_SUM_16(i), HONE_SUM_16(i + 16)
#define HONE_SUM_64(i) HONE_SUM_32(i), HONE_SUM_32(i + 32)
#define HONE_SUM_128(i) HONE_SUM_64(i), HONE_SUM_64(i + 64)
#define HONE_STRING(text) #text
#define HONE_WGMMA(columns, registers, a, b, add, operands)                                                              \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\nwgmma.mma_async.sync.aligned.m64n" HONE_STRING(columns)   \
               "k16.f32.bf16.bf16 {" registers "}, " a ", " b ", p, 1, 1, 0, 0;\n}"                                       \
               : operands : "l"(a_word), "l"(b_word), "r"(add_word))
HONE_DEVICE void group_product(float (&sums)[32], uint64_t a_word, uint64_t b_word, int add_word) {
  HONE_WGMMA(64, HONE_SUMS_32, "%32", "%33", "%34", HONE_SUM_32(0));
}
HONE_DEVICE void group_product(float (&sums)[64], uint64_t a_word, uint64_t b_word, int add_word) {
  HONE_WGMMA(128, HONE_SUMS_64, "%64", "%65", "%66", HONE_SUM_64(0));
}
HONE_DEVICE void group_product(float (&sums)[128], uint64_t a_word, uint64_t b_word, int add_word) {
  HONE_WGMMA(256, HONE_SUMS_128, "%128", "%129", "%130", HONE_SUM_128(0));
}
#undef HONE_WGMMA
#undef HONE_STRING
#undef HONE_SUM_128
#undef HONE_SUM_64
#undef HONE_SUM_32
#undef HONE_SUM_16
#undef HONE_SUM_4
#undef HONE_SUMS_128
#undef HONE_SUMS_64
#undef HONE_SUMS_32
#endif

/// The threads of a group have N registers each from here on (a multiple of 8, 24 to 256), fewer or more than before; more have
/// to be free, or it waits for them. For kernels with __launch_bounds__ of two numbers, each group on a branch of its own.
template <int N>
HONE_DEVICE void registers_down() {
#if !HONE_EMULATED
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}
template <int N>
HONE_DEVICE void registers_up() {
#if !HONE_EMULATED
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

/// A thread's share of the products that its group has on the way.
class GroupProducts {
 public:
#if HONE_EMULATED
  ~GroupProducts() { call(hone::simt::GroupOp::kEnd, nullptr, 0); }
#endif
  /// Before the first product, and whenever threads have touched sums since: from here on they are the units'.
  HONE_DEVICE void fence() {
#if HONE_EMULATED
    call(hone::simt::GroupOp::kFence, nullptr, 0);
#else
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }
  /// sums = a * b (+ sums, if add) on 64 rows x 2 N columns, bf16, 16 of the depth. Warp w of the group has rows 16 w to
  /// 16 w + 15; with r = lane / 4 and t = lane % 4, sums[4 j], sums[4 j + 1] are row r, columns 8 j + 2 t and 8 j + 2 t + 1;
  /// sums[4 j + 2], sums[4 j + 3] row r + 8. Until they are waited for, sums and both factors belong to the units; other
  /// products onto the same sums may follow, in order. What is added is cut as mma_bf16 cuts it, 16 of the depth at a time.
  template <int N>
  HONE_DEVICE void multiply(float (&sums)[N], const GroupFactor& a, const GroupFactor& b, bool add,
                            [[maybe_unused]] int line = __builtin_LINE()) {
    static_assert(N == 32 || N == 64 || N == 128, "64, 128 or 256 columns");
#if HONE_EMULATED
    const hone::simt::GroupProduct product = {sums,          a.first_,        b.first_,      a.next_depth_, a.next_lines_,
                                              b.next_depth_, b.next_lines_, 2 * N, 0, add};
    hone::simt::meet_group(a.first_, b.first_, line);
    call(hone::simt::GroupOp::kMultiply, &product, 0);
#else
    group_product(sums, a.word_, b.word_, add);
#endif
  }
  /// The products since the last commit are a batch.
  HONE_DEVICE void commit() {
#if HONE_EMULATED
    call(hone::simt::GroupOp::kCommit, nullptr, 0);
#else
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
  }
  /// Until at most the Latest youngest batches are on their way. Then `sums`, of batches before those, may be read.
  template <int Latest, int N>
  HONE_DEVICE void wait(float (&sums)[N], [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
    static_cast<void>(sums);
    call(hone::simt::GroupOp::kWait, nullptr, Latest);
    hone::simt::meet_group(nullptr, nullptr, line);
#else
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Latest) : "memory");
#pragma unroll
    for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sums[i])::"memory");  // nothing reads them before
#endif
  }

#if HONE_EMULATED
 private:
  HONE_DEVICE void call(hone::simt::GroupOp op, const hone::simt::GroupProduct* product, int value) {
    hone_simt_group(static_cast<int>(op), &state_, product, value);
    asm volatile("" ::: "memory");  // no tail call: where it returns to is where it is called
  }
  hone::simt::GroupState state_ = {};
#endif
};

}  // namespace hone::prim
