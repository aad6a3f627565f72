// Reductions over a tile or over the lanes that are here; every lane gets the result.
#pragma once
#include "hone/simt/shim/cooperative_groups.h"

namespace cooperative_groups {

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <class Group, class T, class Op>
T reduce(const Group& group, T v, Op op, HONE_LINE) {
  const int count = static_cast<int>(group.num_threads()), rank = static_cast<int>(group.thread_rank());
  for (int step = 1; step < count; step *= 2) {
    const T other = group.shfl_down(v, step, line);
    if (rank + step < count) v = op(v, other);
  }
  return group.shfl(v, 0, line);
}

}  // namespace cooperative_groups
