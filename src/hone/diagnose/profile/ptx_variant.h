// Variants of a kernel with one stage left out, as PTX from PTX: where no hardware counter may be read, the time that a
// variant saves says what the stage costs. A variant's results are wrong and nobody reads them, but it assembles, stays in
// the kernel's arrays and ends where the kernel does: what decides an address or a branch (ptx_flow.h) stays as it is, and so
// does all that blocks wait for. Pure. kInput for what is no PTX.
//
// For who launches: run the kernel itself first and leave its workspaces as it left them; give every buffer 512 bytes of slack
// behind it, and 32 before, for kSpread, and the block 512 more bytes of shared memory for kBankConflicts; set a limit of time.
#pragma once
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::diagnose {

enum class Without {
  kGlobalLoads,      ///< weak loads of global memory: cheap values instead, which depend on the address
  kGlobalStores,     ///< weak stores to global memory; the values are still reckoned
  kGlobalMemory,     ///< both
  kLocalMemory,      ///< loads and stores of threads' own arrays that lie in memory, as the text has them: not what an assembler spills
  kAtomicUpdates,    ///< atomic operations on global or shared memory whose result nobody takes
  kBlockBarriers,    ///< the block's barriers
  kBankConflicts,    ///< conflicts of banks: lanes reach for shared memory side by side, at the place that each has in its row
  kSpread,           ///< sectors: a warp's lanes reach for global memory side by side, from the leader's sector on
  kWork,             ///< everything: each entry returns at once
};

struct PtxVariant {
  std::string text;
  int changed = 0;  ///< instructions; 0: the variant is the kernel itself
  int kept = 0;     ///< instructions of that kind that had to stay
};
[[nodiscard]] Result<PtxVariant> ptx_without(std::string_view ptx, Without what);

}  // namespace hone::diagnose
