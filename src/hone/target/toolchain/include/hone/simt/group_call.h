// Matrix products of groups of four warps, as kernel and run-time share them. Plain data, laid out alike in both.
#pragma once
#include <stdint.h>

namespace hone::simt {

/// What a thread does with its group's products. kEnd: they go out of its scope.
enum class GroupOp : int32_t { kFence, kMultiply, kCommit, kWait, kEnd };

/// What the units multiply: 16 of the depth at a time, of TF32 8, of bytes 32.
enum class GroupType : int32_t { kBf16, kF16, kTf32, kE4M3, kE5M2, kI8 };

/// One product: 64 rows x `columns`, 32 bytes of the depth.
struct GroupProduct {
  float* sums;                ///< this thread's, columns / 2 of them; of kI8 integers
  const char *a, *b;          ///< the factors' first core matrices; a null: the left one's rows are below
  int32_t a_depth, a_lines;   ///< bytes to the next core matrix in depth and in lines
  int32_t b_depth, b_lines;
  int32_t columns;
  GroupType type;
  uint32_t batch;             ///< counts commits
  bool add;
  bool across;                ///< lines of the right factor are neighbours: b_depth is the bytes to the next 64
  const char* b_swizzled;     ///< what the right factor's swizzled lines begin with, or null
  const char* a_swizzled;     ///< likewise the left one's
  uint32_t rows[2][8];        ///< of this thread's sums, from registers
};

/// Sums that belong to the units: their values so far, while the thread's own are NaN.
struct GroupSums {
  float* at;
  int32_t count;
  float value[128];
};

constexpr int kMostGroupProducts = 64, kMostGroupSums = 4;

/// A thread's products on their way, oldest first.
struct GroupState {
  bool fenced;
  uint32_t batch;
  int32_t products, sums;
  GroupProduct product[kMostGroupProducts];
  GroupSums sum[kMostGroupSums];
};

}  // namespace hone::simt
