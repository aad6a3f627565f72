// Factors of a product of which an index picks what each row of a tile takes: a row of the left one, and a group (an expert), whose right
// factor the row is multiplied by. What the groups of a tile's rows have to sum is walked as one depth, group after group; of the left
// factor a group sees its own rows and zeros, so that the main loops of matmul_mma.h and matmul_simt.h know nothing of it: a tile whose
// rows are one group's is multiplied once, one where groups meet once for each of them, and groups without rows cost nothing.
#pragma once
#include "hone/gpu/matmul.h"

namespace hone::gpu {

/// What the rows of a tile take, in shared memory.
template <int Rows>
struct Picks {
  int64_t line[Rows];     ///< elements of the left factor before a row; -1: it is zero
  int64_t group[Rows];    ///< of the right factor before its group; -1 as above
  int64_t groups[Rows];   ///< of those, each once
  int count;

  /// Which of the groups the depth from `depth0` on belongs to; then `depth0` and `end` are within that group.
  template <int Step>
  HONE_DEVICE int part_of(int64_t depth, int64_t& depth0, int64_t& end) const {
    const auto each = static_cast<uint32_t>((depth + Step - 1) / Step), step = static_cast<uint32_t>(depth0 / Step), part = step / each;
    depth0 = static_cast<int64_t>(step - part * each) * Step;
    end = depth;
    return static_cast<int>(part);
  }
};

/// Makes the picks of the tile at `row0`, by all threads of the block: line_at(row) and group_at(row) for the rows that there are. In whatever
/// order groups come to stand, a row's sum is that of its own and zeros.
template <int Rows, class LineAt, class GroupAt>
HONE_DEVICE void pick(Picks<Rows>& picks, int64_t row0, int64_t rows, LineAt line_at, GroupAt group_at) {
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  if (thread == 0) picks.count = 0;
  for (int r = thread; r < Rows; r += threads) {
    const int64_t line = row0 + r < rows ? line_at(row0 + r) : -1, group = line < 0 ? -1 : group_at(row0 + r);
    picks.line[r] = group < 0 ? -1 : line;
    picks.group[r] = group;
  }
  __syncthreads();
  for (int r = thread; r < Rows; r += threads) {
    const int64_t group = picks.group[r];
    int before = r - 1;   // of sorted rows the one before tells
    while (before >= 0 && picks.group[before] != group) --before;
    if (group >= 0 && before < 0) picks.groups[atomicAdd(&picks.count, 1)] = group;
  }
  __syncthreads();
}

/// Where what is picked begins, `line` further on; -1 from `bound` on, where there are zeros.
HONE_DEVICE int64_t picked(int64_t index, int64_t bound, int64_t stride, int64_t line) { return index < bound ? index * stride + line : -1; }

/// The left factor. Grouped: a depth is that of one group after another, each a multiple of Step.
template <class F, int Rows, int Step, bool Grouped>
struct PickedLines {
  using T = typename F::T;
  static constexpr int V = F::V;
  static constexpr bool kAlongDepth = F::kAlongDepth;
  F all;
  const Picks<Rows>* picks;
  int64_t row0, lines, depth;

  struct Tile {
    const PickedLines& of;
    const T* base;
    int64_t group;
    HONE_DEVICE bool has(int64_t line) const { return Grouped ? of.picks->group[line - of.row0] == group : of.picks->line[line - of.row0] >= 0; }
    HONE_DEVICE int64_t line_at(int64_t line) const { return of.picks->line[line - of.row0]; }
    HONE_DEVICE int64_t depth_at(int64_t at) const { return of.all.depth_at(at); }
  };
  HONE_DEVICE Tile of_tile(int64_t& depth0, int64_t& end) const {
    if constexpr (Grouped) return {*this, all.base, picks->groups[picks->template part_of<Step>(depth, depth0, end)]};
    else return {*this, all.base, 0};
  }
};
/// Step and Grouped as above; `depth`: of one group.
template <int Step, bool Grouped, class F, int Rows>
HONE_DEVICE PickedLines<F, Rows, Step, Grouped> picked_lines(F all, const Picks<Rows>& picks, int64_t row0, int64_t depth) {
  return {all, &picks, row0, all.lines, depth};
}

/// The right factor: that of the group whose depth it is.
template <class F, int Rows, int Step>
struct PickedGroups {
  using T = typename F::T;
  static constexpr int V = F::V;
  static constexpr bool kAlongDepth = F::kAlongDepth;
  F all;
  const Picks<Rows>* picks;
  int64_t lines, depth;

  HONE_DEVICE F of_tile(int64_t& depth0, int64_t& end) const {
    F own = all;
    own.base += picks->groups[picks->template part_of<Step>(depth, depth0, end)];
    return own;
  }
};
template <int Step, class F, int Rows>
HONE_DEVICE PickedGroups<F, Rows, Step> picked_groups(F all, const Picks<Rows>& picks, int64_t depth) {
  return {all, &picks, all.lines, depth};
}

}  // namespace hone::gpu
