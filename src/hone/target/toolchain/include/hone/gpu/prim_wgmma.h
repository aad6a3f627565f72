// Matrix products of a group of four warps (wgmma, sm_90a). The right factor lies in shared memory, the left one there or in
// registers; the sums are registers that the units fill in while the threads go on.
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
#if !HONE_EMULATED
#include "hone/gpu/prim_wgmma_ptx.h"
#endif

namespace hone::prim {

/// A factor in shared memory: core matrices of 8 lines x 16 bytes of the depth, 128 bytes each, a line's 16 bytes after the other's.
/// `next_depth` and `next_lines`: bytes to the next core matrix in depth, and in lines; multiples of 16, as is the address.
/// Or lines of 128 bytes of the depth, one after the other, on a boundary of 1024 bytes: swizzled(). Piece c of 16 bytes of line
/// l is then at c ^ (l % 8), so that what copies a line, and what reads pieces of many, meets no bank twice.
/// What threads themselves have written there needs async_fence() before the barrier behind which it is multiplied.
class GroupFactor {
 public:
  HONE_DEVICE GroupFactor(const void* first, int next_depth, int next_lines)
#if HONE_EMULATED
      : first_(static_cast<const char*>(first)), swizzled_(nullptr), next_depth_(next_depth), next_lines_(next_lines) {}
#else
      : word_((shared_address(first) & 0x3ffffu) >> 4 | static_cast<uint64_t>(next_depth >> 4) << 16 |
              static_cast<uint64_t>(next_lines >> 4) << 32) {}
#endif
  HONE_DEVICE static GroupFactor swizzled(const void* first, int next_depth = 16) {
    GroupFactor factor(first, next_depth, 1024);
#if HONE_EMULATED
    factor.swizzled_ = factor.first_;
#else
    factor.word_ |= uint64_t{1} << 62;
#endif
    return factor;
  }
  /// The factor that begins `bytes` further, a multiple of 16; swizzled: along the lines a multiple of 1024.
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
  const char *first_, *swizzled_;
  int next_depth_, next_lines_;
#else
  uint64_t word_;
#endif
};

/// A right factor of 16-bit numbers whose lines are neighbours in memory (a row of memory is one depth): panels of 64 lines, in a
/// panel 128 bytes for each depth, swizzled as above; `next_panel`: bytes to the next 64 lines, a multiple of 1024.
class GroupFactorAcross {
 public:
  HONE_DEVICE GroupFactorAcross(const void* first, int next_panel) : factor_(GroupFactor::swizzled(first, next_panel)) {}
  /// `depth` further, a multiple of 8.
  HONE_DEVICE GroupFactorAcross after(int depth) const {
    GroupFactorAcross moved = *this;
    moved.factor_ = factor_.after(128 * depth);
    return moved;
  }

 private:
  friend class GroupProducts;
  GroupFactor factor_;
};

#if HONE_EMULATED
using hone::simt::GroupType;
#endif

/// The threads of a group have so many registers each from here on (a multiple of 8, 24 to 256), fewer or more than before; more have
/// to be free, or it waits for them. For kernels with __launch_bounds__ of two numbers, each group on a branch of its own.
template <int Registers>
HONE_DEVICE void registers_down() {
#if !HONE_EMULATED
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}
template <int Registers>
HONE_DEVICE void registers_up() {
#if !HONE_EMULATED
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
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
  /// sums = a * b (+ sums, if add) on 64 rows x 2 Sums columns, 32 bytes of the depth: 16 numbers, 8 of TF32, 32 bytes. Sums of kI8 are
  /// int32_t; of floats of one byte the units keep 14 bits, so that who wants more adds them up himself from time to time. Warp w of the
  /// group has rows 16 w to 16 w + 15; with r = lane / 4 and t = lane % 4, sums[4 j], sums[4 j + 1] are row r, columns 8 j + 2 t
  /// and 8 j + 2 t + 1; sums[4 j + 2], sums[4 j + 3] row r + 8. Until they are waited for, sums and both factors belong to the
  /// units; other products onto the same sums may follow, in order. What is added is cut as mma_bf16 cuts it, 32 bytes of the
  /// depth at a time.
  template <GroupType Type = GroupType::kBf16, class Sum, int Sums, class Right>
  HONE_DEVICE void multiply(Sum (&sums)[Sums], const GroupFactor& a, const Right& b, bool add, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
    hone::simt::GroupProduct product = product_of<Type>(sums, b, add);
    product.a = a.first_, product.a_swizzled = a.swizzled_, product.a_depth = a.next_depth_, product.a_lines = a.next_lines_;
    hone::simt::meet_group(product.a, product.b, line);
    call(hone::simt::GroupOp::kMultiply, &product, 0);
#else
    check<Type, Right, Sum, Sums>();
    group_product<Type, is_across(static_cast<const Right*>(nullptr))>(sums, a.word_, word_of(b), add);
#endif
  }
  /// Likewise with the left factor in registers: with r and t as above, `a` holds of this warp's rows r and word t of the depth, row
  /// r + 8 and t, r and t + 4, r + 8 and t + 4; a word is one number of TF32, or two neighbours of 16 bits: as the sums of a product lie.
  /// It belongs to the units as well; what writes it comes before a fence.
  template <GroupType Type = GroupType::kTf32, int Sums, class Right>
  HONE_DEVICE void multiply_from(float (&sums)[Sums], const uint32_t (&a)[4], const Right& b, bool add, [[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
    hone::simt::GroupProduct product = product_of<Type>(sums, b, add);
    hone::simt::rows_from_lanes(a, product.rows, line);
    hone::simt::meet_group(nullptr, product.b, line);
    call(hone::simt::GroupOp::kMultiply, &product, 0);
#else
    check<Type, Right, float, Sums>();
    group_product_from<Type, is_across(static_cast<const Right*>(nullptr))>(sums, a, word_of(b), add);
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
  /// Until at most the Latest youngest batches are on their way: shared memory that others read may be written.
  template <int Latest>
  HONE_DEVICE void wait([[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
    call(hone::simt::GroupOp::kWait, nullptr, Latest);
    hone::simt::meet_group(nullptr, nullptr, line);
#else
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Latest) : "memory");
#endif
  }
  /// And `sums`, of batches before those, may be read.
  template <int Latest, class Sum, int Sums>
  HONE_DEVICE void wait(Sum (&sums)[Sums], int line = __builtin_LINE()) {
    wait<Latest>(line);
    readable(sums);
  }
  /// Sums that have been waited for may be read.
  template <class Sum, int Sums>
  HONE_DEVICE static void readable(Sum (&sums)[Sums]) {
#if HONE_EMULATED
    static_cast<void>(sums);
#else
#pragma unroll
    for (int i = 0; i < Sums; ++i)   // nothing reads them before
      if constexpr (is_whole<Sum>()) asm volatile("" : "+r"(sums[i])::"memory");
      else asm volatile("" : "+f"(sums[i])::"memory");
#endif
  }

 private:
  HONE_DEVICE static constexpr bool is_across(const GroupFactor*) { return false; }
  HONE_DEVICE static constexpr bool is_across(const GroupFactorAcross*) { return true; }
  HONE_DEVICE static const GroupFactor& factor_of(const GroupFactor& b) { return b; }
  HONE_DEVICE static const GroupFactor& factor_of(const GroupFactorAcross& b) { return b.factor_; }
  template <class Sum>
  HONE_DEVICE static constexpr bool is_whole() { return static_cast<Sum>(0.5f) == 0; }
  template <GroupType Type, class Right, class Sum, int Sums>
  HONE_DEVICE static constexpr void check() {
    static_assert(sizeof(Sum) == 4 && is_whole<Sum>() == (Type == GroupType::kI8), "sums of bytes are int32_t, all others float");
    static_assert(Sums == 8 || Sums == 12 || Sums == 16 || Sums == 24 || Sums == 32 || Sums == 40 || Sums == 48 || Sums == 64 || Sums == 96 ||
                      Sums == 128,
                  "16, 24, 32, 48, 64, 80, 96, 128, 192 or 256 columns");
    static_assert(Type == GroupType::kBf16 || Type == GroupType::kF16 || !is_across(static_cast<const Right*>(nullptr)), "the units turn numbers of 16 bits alone");
  }
#if HONE_EMULATED
  template <GroupType Type, class Sum, int Sums, class Right>
  static hone::simt::GroupProduct product_of(Sum (&sums)[Sums], const Right& b, bool add) {
    check<Type, Right, Sum, Sums>();
    const GroupFactor& right = factor_of(b);
    return {reinterpret_cast<float*>(sums), nullptr, right.first_, 0, 0, right.next_depth_, right.next_lines_, 2 * Sums, Type, 0, add, is_across(static_cast<const Right*>(nullptr)),
            right.swizzled_, nullptr, {}};
  }
  HONE_DEVICE void call(hone::simt::GroupOp op, const hone::simt::GroupProduct* product, int value) {
    hone_simt_group(static_cast<int>(op), &state_, product, value);
    asm volatile("" ::: "memory");  // no tail call: where it returns to is where it is called
  }
  hone::simt::GroupState state_ = {};
#else
  template <class Right>
  HONE_DEVICE static uint64_t word_of(const Right& b) { return factor_of(b).word_; }
#endif
};

}  // namespace hone::prim
