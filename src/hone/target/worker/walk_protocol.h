// What hone-walk is given: a file with one bound plan of a CPU kernel. It launches the plan on one thread and ends, for a
// tool that watches the whole process (valgrind).
#pragma once
#include <cstdint>

#include "hone/target/worker/protocol.h"

namespace hone::target::worker {

inline constexpr int kMaxWalkPath = 512;

struct WalkJob {
  char contents[kMaxTensors][kMaxWalkPath];  ///< file with the tensor's bytes; empty: an output
  Control control;                           ///< the plan, `tensor_bytes`, and `calls`: how often (0: never)
};

/// What names of hone-walk's own functions begin with in a symbol table.
inline constexpr const char* kWalkNames = "_ZN4hone6target6worker";

/// Exit statuses of hone-walk besides 0.
enum class WalkExit : int { kUsage = 2, kNoJob = 3, kNoMemory = 4, kNoLibrary = 5, kNoEntries = 6 };

}  // namespace hone::target::worker
