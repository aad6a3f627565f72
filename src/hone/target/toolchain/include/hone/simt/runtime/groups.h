// Matrix products of groups of four warps (wgmma). The units read the factors and fill in the sums at any time from the
// product's issue until it is waited for. Here that is the end: until then the thread's sums are NaN, and shared memory
// is looked at both when a product is issued and when it is waited for, so that who writes in between shows.
// The four warps of a group have to issue the same products; that is compared when the block ends.
//
// Sums are cut as runtime/matrix.h says, 32 bytes of the depth at a time as on Hopper.
#pragma once
#include "hone/simt/group_call.h"
#include "hone/simt/runtime/copies.h"

namespace hone::simt {

constexpr int kGroupWarps = 4, kGroupRows = 64;
constexpr float kGroupPoison = __builtin_nanf("0x2dead");

[[noreturn]] inline void group_finding(Finding finding, const Text& text, const void* where) {
  found(finding, text, m.thread, offset_of(where), 0);
  lose_thread();
}

/// Where the 16 bytes of a line's first or second half of the depth are.
inline const char* core_line(const char* first, int next_depth, int next_lines, int line, int half) {
  return first + half * next_depth + line / 8 * next_lines + line % 8 * 16;
}

/// `bytes` behind `at`, in lines of 128 bytes from `first` on whose pieces of 16 are exchanged.
inline const char* swizzled(const char* first, const char* at, int64_t bytes) {
  const int64_t from_first = at - first + bytes;
  return first + (from_first ^ (from_first >> 7 & 7) << 4);
}

/// The same in lines of 128 bytes that begin with `first`; null: there are core matrices.
inline const char* factor_line(const char* at, const char* first, int next_depth, int next_lines, int line, int half) {
  if (!first) return core_line(at, next_depth, next_lines, line, half);
  return swizzled(first, at, line / 8 * next_lines + line % 8 * 128 + half * next_depth);
}

inline const char* left_line_at(const GroupProduct& p, int line, int half) { return factor_line(p.a, p.a_swizzled, p.a_depth, p.a_lines, line, half); }

/// Of this lane's two rows, 8 apart from `row0` on.
inline const char* left_line(const GroupProduct& p, int row0, int i, int half) {
  return p.a ? left_line_at(p, row0 + 8 * i, half) : reinterpret_cast<const char*>(p.rows[i] + 4 * half);
}

inline const char* right_line(const GroupProduct& p, int line, int half) { return factor_line(p.b, p.b_swizzled, p.b_depth, p.b_lines, line, half); }

/// Where the 16 bytes begin that line `line` shares with its neighbours at one depth.
inline const char* right_row(const GroupProduct& p, int line, int depth) {
  return swizzled(p.b_swizzled, p.b, line / 64 * p.b_depth + depth / 8 * p.b_lines + depth % 8 * 128 + line % 64 / 8 * 16);
}

/// This lane's share of what its warp reads for a product.
inline void read_share(const GroupProduct& p, const void* where) {
  const int row0 = thread_number(m.thread) / kWave % kGroupWarps * 16;
  const auto read = [&](const char* at) {
    if (shared_offset(at, 16) < 0) {
      Text text;
      text << "a group's product reads a factor that is not in the block's shared memory";
      group_finding(Finding::kOutOfBounds, text, where);
    }
    note(at, 16, false, true, Access::kPlain, where);
  };
  if (p.a) read(left_line_at(p, row0 + m.lane % 16, m.lane / 16));
  for (int i = m.lane; i < 2 * p.columns; i += kWave)
    read(p.across ? right_row(p, i / 16 * 8, i % 16) : right_line(p, i % p.columns, i / p.columns));
}

inline int depth_of(GroupType type) { return type == GroupType::kTf32 ? 8 : type == GroupType::kBf16 || type == GroupType::kF16 ? 16 : 32; }

inline MatrixOp numbers_of(GroupType type) {
  switch (type) {
    case GroupType::kTf32: return MatrixOp::kTf32;
    case GroupType::kF16: return MatrixOp::kF16;
    case GroupType::kBf16: return MatrixOp::kBf16;
    case GroupType::kE4M3: return MatrixOp::kE4M3;
    case GroupType::kE5M2: return MatrixOp::kE5M2;
    case GroupType::kI8: break;
  }
  return MatrixOp::kI8;
}

/// The numbers of a line whose neighbours in memory are other lines'.
inline void load_across(const GroupProduct& p, int line, double (&to)[32]) {
  for (int k = 0; k < 16; ++k) to[k] = factor_of(reinterpret_cast<const uint32_t*>(right_row(p, line, k)), line % 8, numbers_of(p.type));
}

/// The numbers of a line, of which `at` knows where either half of the depth is.
template <class At>
inline void load_line(const GroupProduct& p, At at, double (&to)[32]) {
  const int each = depth_of(p.type) / 2;
  for (int half = 0; half < 2; ++half) {
    const auto* words = reinterpret_cast<const uint32_t*>(at(half));
    if (p.type != GroupType::kI8) factors_of(words, each, numbers_of(p.type), to + each * half);
    else
      for (int k = 0; k < each; ++k) to[each * half + k] = byte_of(words, k);
  }
}

/// This lane's sums of a product.
inline void multiply(const GroupProduct& p, float* sums) {
  const int row0 = thread_number(m.thread) / kWave % kGroupWarps * 16 + m.lane / 4, deep = depth_of(p.type);
  double a[2][32], b[32], products[32];
  for (int i = 0; i < 2; ++i) load_line(p, [&](int half) { return left_line(p, row0, i, half); }, a[i]);
  for (int j = 0; j < p.columns / 4; ++j) {
    const int line = j / 2 * 8 + m.lane % 4 * 2 + j % 2;
    if (p.across) load_across(p, line, b);
    else load_line(p, [&](int half) { return right_line(p, line, half); }, b);
    for (int i = 0; i < 2; ++i) {
      float& sum = sums[j / 2 * 4 + i * 2 + j % 2];
      for (int k = 0; k < deep; ++k) products[k] = a[i][k] * b[k];
      if (p.type == GroupType::kI8) {
        uint32_t whole = p.add ? word_of(sum) : 0;
        for (int k = 0; k < deep; ++k) whole += static_cast<uint32_t>(static_cast<int32_t>(products[k]));
        sum = float_of(whole);
      } else {
        sum = cut_sum(p.add ? sum : 0.0f, products, deep, deep == 32 ? 13 : 24);
      }
    }
  }
}

inline GroupSums& sums_of(GroupState& s, float* at, int count, const void* where) {
  for (int i = 0; i < s.sums; ++i)
    if (s.sum[i].at == at) return s.sum[i];
  if (s.sums == kMostGroupSums) {
    Text text;
    text << "the emulator has no room for more than " << kMostGroupSums << " sets of sums of a thread on their way";
    group_finding(Finding::kEmulator, text, where);
  }
  GroupSums& taken = s.sum[s.sums++];
  taken.at = at, taken.count = count;
  for (int i = 0; i < count; ++i) taken.value[i] = at[i], at[i] = kGroupPoison;
  return taken;
}

inline void issue_product(GroupState& s, const GroupProduct& p, const void* where) {
  Text text;
  if (!s.fenced) {
    text << "a group's product without a fence since its threads may have touched the sums";
    group_finding(Finding::kUndefined, text, where);
  }
  const auto all = reinterpret_cast<uintptr_t>(p.a) | reinterpret_cast<uintptr_t>(p.b) |
                   static_cast<uintptr_t>(p.a_depth | p.a_lines | p.b_depth | p.b_lines);
  if (all % 16 != 0) {
    text << "a factor of a group's product: its address and the ways to its next cores have to be multiples of 16 bytes";
    group_finding(Finding::kUndefined, text, where);
  }
  if (s.products == kMostGroupProducts) {
    text << "the emulator has no room for more than " << kMostGroupProducts << " products of a group on their way";
    group_finding(Finding::kEmulator, text, where);
  }
  sums_of(s, p.sums, p.columns / 2, where);
  read_share(p, where);
  s.product[s.products] = p;
  s.product[s.products++].batch = s.batch;
  if (m.lane == 0) {
    Warp& w = *m.warp;
    ++w.products;
    const uint64_t what = static_cast<uint64_t>(p.a ? p.a - m.shared : 0) ^ static_cast<uint64_t>(p.b - m.shared) << 20 ^
                          static_cast<uint64_t>(p.columns) << 40 ^ static_cast<uint64_t>(p.type) << 56 ^
                          static_cast<uint64_t>(p.add) << 60;
    w.products_mark = (w.products_mark ^ what) * 0x9e3779b97f4a7c15;
    w.products_pc = offset_of(where);
  }
}

/// Until at most `latest` of the youngest batches are on their way.
inline void wait_for_products(GroupState& s, int latest, const void* where) {
  int kept = 0;
  for (int i = 0; i < s.products; ++i) {
    const GroupProduct p = s.product[i];
    if (p.batch + static_cast<uint32_t>(latest) >= s.batch) {
      s.product[kept++] = p;
      continue;
    }
    read_share(p, where);
    multiply(p, sums_of(s, p.sums, p.columns / 2, where).value);
  }
  s.products = kept;
  for (int i = 0; i < s.sums;) {
    bool busy = false;
    for (int k = 0; k < s.products; ++k) busy |= s.product[k].sums == s.sum[i].at;
    if (busy) {
      ++i;
      continue;
    }
    for (int k = 0; k < s.sum[i].count; ++k) s.sum[i].at[k] = s.sum[i].value[k];
    s.sum[i] = s.sum[--s.sums];
  }
  s.fenced = false;
}

inline void group_operation(GroupOp op, GroupState& s, const GroupProduct* product, int value, const void* where) {
  switch (op) {
    case GroupOp::kFence: s.fenced = true; break;
    case GroupOp::kMultiply: issue_product(s, *product, where); break;
    case GroupOp::kCommit: ++s.batch; break;
    case GroupOp::kWait: wait_for_products(s, value, where); break;
    case GroupOp::kEnd:
      if (s.products > 0) {
        Text text;
        text << "products of a group are never waited for, or were not committed before";
        group_finding(Finding::kPhase, text, where);
      }
      break;
  }
}

/// When a block has ended: whether the warps of each group have issued the same.
inline void compare_groups(Block& b) {
  for (int k = 0; k < m.warps; ++k) {
    const Warp &mine = b.warps[k], &other = b.warps[k / kGroupWarps * kGroupWarps];
    const bool alone = mine.products > 0 && k / kGroupWarps * kGroupWarps + kGroupWarps > m.warps;
    if (!alone && mine.products == other.products && mine.products_mark == other.products_mark) continue;
    Text text;
    if (alone) text << "a group's product by warp " << k << ", which belongs to no group of four warps";
    else if (mine.products != other.products)
      text << "warp " << k << " issues " << static_cast<int64_t>(mine.products) << " products of its group, the group's first warp "
           << static_cast<int64_t>(other.products);
    else text << "warp " << k << " issues other products than the first warp of its group";
    found(Finding::kDivergent, text, &b.threads[k * kWave], mine.products > 0 ? mine.products_pc : other.products_pc, 0);
    return;
  }
}

}  // namespace hone::simt
