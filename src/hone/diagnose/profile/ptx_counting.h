// The counting variant: a kernel that does its work and counts it, as PTX from PTX, where no hardware counter may be read.
// Threads count in registers and add up when they return, in an array of the module (target::worker::kCountsName): for each multiprocessor a
// record of kPtxCountSums 64-bit words, and two clocks for each entry in the order of the text. A module just loaded holds zeros, which is what it has to begin with;
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

/// The first words of a multiprocessor's record.
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
  kPtxCountSums,             ///< behind these, of each entry: ~(its first clock on this multiprocessor) and its last
};
inline constexpr size_t kPtxCountClocks = 2, kPtxCountProcessors = 256;
/// Of a sector of memory, the least that a cache fetches.
inline constexpr double kPtxSectorBytes = 32;

[[nodiscard]] Result<std::string> ptx_counting(std::string_view ptx);

struct PtxCounts {
  std::array<double, kPtxCountSums> sums{};            ///< by PtxCount, over all multiprocessors
  std::vector<std::vector<double>> busy_cycles{};      ///< of each entry, of each multiprocessor that had a block of it: last clock - first

  [[nodiscard]] double lane_share() const;              ///< of a warp's lanes, those that take part; NaN where nothing ran
  [[nodiscard]] double sectors_a_load() const;          ///< sectors / requests; NaN where there are none
  [[nodiscard]] double sectors_a_store() const;
  [[nodiscard]] double load_use_share() const;          ///< asked bytes / bytes of sectors; above 1 where lanes share words
  [[nodiscard]] double store_use_share() const;
  /// Of `processors`, the share that has a block, from an entry's first to its last; NaN where an entry was not launched.
  [[nodiscard]] double active_share(int processors) const;
  [[nodiscard]] double conflict_share() const;          ///< of passes through shared memory, those that conflicts cost
};
/// `words` is the array as the card left it.
[[nodiscard]] PtxCounts ptx_counts(std::span<const uint64_t> words);

}  // namespace hone::diagnose
