// In which order, and on how many threads, the blocks of a CPU kernel's launches run. A kernel must be right in any.
#pragma once
#include <cstdint>

namespace hone::target {

enum class BlockOrder : uint32_t {
  kUsual,           ///< as it is timed: runs of neighbours, all threads
  kNeighbours,      ///< one after another, each taken by whichever thread is free: neighbours run side by side
  kShuffled,        ///< the same in a secret order
  kForwardsAlone,   ///< one after another on one thread
  kBackwardsAlone,  ///< the same from the last to the first
};
inline constexpr BlockOrder kBlockOrders[] = {BlockOrder::kUsual, BlockOrder::kNeighbours, BlockOrder::kShuffled, BlockOrder::kForwardsAlone,
                                              BlockOrder::kBackwardsAlone};

}  // namespace hone::target
