// What hone and the worker of a card share: a block of memory with the plan and the calls, and a socket on which
// commands go one way and answers the other. The worker is our own program; of the candidate it runs device code
// only. One command at a time; a worker that does not answer is killed.
#pragma once
#include <cstdint>

#include "hone/target/gpu/driver.h"
#include "hone/target/worker/protocol.h"

namespace hone::target::worker {

inline constexpr int kGpuControlFd = 3;
inline constexpr int kGpuSocketFd = 4;
inline constexpr int kGpuWordsFd = 5;            ///< a file for what the driver prints: a pipe that nobody reads would block it
inline constexpr int kMaxSymbol = 512;

enum class GpuCommand : uint32_t {
  kLoad = 1,   ///< new module and buffers; descriptors come with it: the module's image, then a region each
  kRun,        ///< the calls
  kUnload,     ///< forget module and buffers
};

enum class GpuState : uint32_t {
  kDone = 0,
  kRefused,    ///< the candidate's doing, before anything ran: the worker stays usable
  kFault,      ///< the candidate's doing, on the device: the worker ends itself
  kBroken,     ///< ours, or the machine's: the worker ends itself
};

struct GpuLaunch : gpu::Shape {
  uint32_t arguments;
  uint32_t symbol;                              ///< index into GpuControl::symbol
  uint32_t unused;
  Argument argument[kMaxArguments];
};

struct GpuControl {
  int32_t card;                                 ///< ordinal
  uint32_t regions, launches, workspaces, tensors, calls, symbols;
  int64_t flush_bytes;                          ///< written and read before a cold call: at least twice the last-level cache; a multiple of 16
  int64_t image_bytes;
  RegionInfo region[kMaxRegions];
  WorkspaceInfo workspace[kMaxWorkspaces];
  char symbol[kMaxLaunches][kMaxSymbol];
  GpuLaunch launch[kMaxLaunches];
  PlacementInfo placement[kMaxCalls][kMaxTensors];
  uint8_t cold[kMaxCalls];
  uint32_t replay;                              ///< not 0: all calls as one graph, timed once, with their tensors in the cache
  uint64_t scrub;                               ///< not 0: before the calls the module is loaded anew and workspaces are filled; random
  int64_t tensor_bytes[kMaxTensors];            ///< what is read into the cache; 0: nothing
  // The answer.
  GpuState state;
  int64_t device_ns;                            ///< sum over the calls, by events on the worker's stream
  int64_t span_ns;                              ///< from the first event to the last, flushes included
  int64_t wall_ns;                              ///< the worker's own clock over the same span
  uint32_t outside;                             ///< not 0: `why` is an address that is nobody's
  char why[1024];
};

inline constexpr int kMaxPath = 512;
/// A module's variable with counts (8 bytes each), which is read after the plan has run.
inline constexpr char kCountsName[] = "hone_counts";
/// One plan for `hone-gpu DRIVER launch`, which runs it once under a profiler or a checker, or several times by the clock: a file of
/// this and of the module's image. Region i holds tensor i, in an allocation of its own.
struct GpuJob {
  char contents[kMaxTensors][kMaxPath];         ///< file with the tensor's bytes; empty: an output
  uint32_t poison;                              ///< not 0: outputs and workspaces begin as NaN, else as they are allocated
  uint32_t rounds;                              ///< 0: once and untimed; else so many times with cold caches, after one that is not timed
  uint32_t seconds;                             ///< the process ends where it takes longer; 0: it may take as long as it likes
  uint32_t counts;                              ///< not 0: the module has kCountsName. Whoever watches takes a name not found for a fault
  int64_t slack;                                ///< bytes behind each tensor that may be touched
  GpuControl control;
};

}  // namespace hone::target::worker
