// The counting variant: a kernel that does its work and counts it, as PTX from PTX, where no hardware counter may be read.
// Threads count in registers and add up when they return, in an array `hone_counts` of the module: a record of
// kPtxCountFields 64-bit words for each multiprocessor. A module just loaded holds zeros, which is what it has to begin with;
// results stay right, times do not, and registers grow. Pure. kInput for what is no PTX.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::diagnose {

/// Words of a multiprocessor's record.
enum PtxCount : size_t {
  kCountThreadInstructions,  ///< PTX instructions times the threads that came to them, whatever their predicates
  kCountWarpInstructions,    ///< the same as if all 32 lanes had: the quotient is the lanes' mean share
  kCountLoadBytes,           ///< weak loads of global memory, and cp.async: what threads asked for
  kCountLoadRequests,        ///< a warp's, one for each time that it comes to a load
  kCountLoadSectors,         ///< different 32-byte sectors of the requests; what straddles counts once
  kCountStoreBytes,          ///< the same of weak stores
  kCountStoreRequests,
  kCountStoreSectors,
  kCountSharedRequests,      ///< loads and stores of the block's shared memory by name, a warp's
  kCountSharedPasses,        ///< passes through the banks: the most words that a bank has to give, for each part of the warp
  kCountSharedLeast,         ///< passes without conflicts: one for each part of the warp that moves 128 bytes
  kCountBarriers,            ///< the block's barriers, by warps
  kCountFirst = 14,          ///< ~(first clock) of an entry on this multiprocessor
  kCountLast = 15,           ///< last clock
};
inline constexpr size_t kPtxCountFields = 16, kPtxCountProcessors = 256;
inline constexpr const char* kPtxCountsName = "hone_counts";
inline constexpr size_t kPtxCountsBytes = kPtxCountFields * kPtxCountProcessors * sizeof(uint64_t);

[[nodiscard]] Result<std::string> ptx_counting(std::string_view ptx);

struct PtxCounts {
  std::array<double, kPtxCountFields> sums{};   ///< by PtxCount, over all multiprocessors; none of kCountFirst and kCountLast
  std::vector<double> busy_cycles{};            ///< of each multiprocessor that had a block: last clock - first

  [[nodiscard]] double lane_share() const;              ///< of a warp's lanes, those that take part; NaN where nothing ran
  [[nodiscard]] double sectors_a_load() const;          ///< sectors / requests; NaN where there are none
  [[nodiscard]] double sectors_a_store() const;
  [[nodiscard]] double load_use_share() const;          ///< asked bytes / bytes of sectors; above 1 where lanes share words
  [[nodiscard]] double store_use_share() const;
  [[nodiscard]] double conflict_share() const;          ///< of passes through shared memory, those that conflicts cost
};
/// `words` is the array as the card left it; words that are missing count as zero.
[[nodiscard]] PtxCounts ptx_counts(std::span<const uint64_t> words);

}  // namespace hone::diagnose
