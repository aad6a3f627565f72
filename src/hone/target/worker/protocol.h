// What parent and runner share: one page-aligned block of anonymous memory, laid out here. The parent
// writes everything but `finished` and `state`; the runner executes. The runner's process is the
// candidate's, so the parent believes none of it: a batch that is said to be finished is frozen first
// and then judged by its outputs alone.
#pragma once
#include <atomic>
#include <cstdint>

#include "hone/target/toolchain/include/hone/simt/context.h"
#include "hone/target/worker/block_order.h"
#include "hone/target/worker/processor.h"

namespace hone::target::worker {

inline constexpr int kControlFd = 3;     ///< descriptor of this block in the runner
inline constexpr int kFirstRegionFd = 4; ///< region i is descriptor kFirstRegionFd + i

inline constexpr int kMaxRegions = 64;
inline constexpr int kMaxLaunches = 256;
inline constexpr int kMaxArguments = 64;
inline constexpr int kMaxWorkspaces = 128;
inline constexpr int kMaxTensors = 32;
inline constexpr int kMaxCalls = 4096;

enum class State : uint32_t {
  kStarting,
  kWaiting,       ///< buffers and threads are there, nothing of the candidate's is
  kReady,         ///< loaded and locked down
  kNoLibrary,     ///< the shared object does not load
  kNoEntries,     ///< it has no table of entries
  kNoMemory,      ///< mappings or workspaces failed
  kNoLock,        ///< the system-call filter could not be installed
  kNoCall,        ///< a library does not have this call here
};

/// What a batch is for.
enum class Command : uint32_t {
  kRun,           ///< the calls, as long as the clock runs; before kLoad there are none
  kLoad,          ///< the candidate; says so in `state`
};

/// How a launch's argument i is passed: the entry finds pointers in tensors[] and integers in values[].
struct Argument {
  uint32_t kind;          ///< kernel::Argument::Kind
  int32_t tensor;         ///< inputs, outputs, workspaces, in this order
  int64_t value;
};

struct Launch {
  int64_t grid[3];
  int64_t shared_bytes;
  uint32_t entry;         ///< index into the library's hone_entries
  uint32_t arguments;
  int64_t resident;       ///< emulated: most blocks that the device holds at a time
  int64_t together;       ///< emulated: so many in calls whose order is not the usual one: no more than whoever waits for earlier blocks needs
  int64_t cluster[3];     ///< emulated: blocks that run together
  Argument argument[kMaxArguments];
};

struct RegionInfo {
  int64_t bytes;
  uint32_t writable;
  uint32_t unused;
};

struct WorkspaceInfo {
  int64_t bytes;
  uint32_t zero;
  uint32_t unused;
};

struct PlacementInfo {
  int64_t offset;
  int32_t region;
  int32_t unused;
};

/// How the blocks of one call are to run.
struct OrderInfo {
  BlockOrder order;
  uint32_t unused;
  uint64_t seed;
};

struct Control {
  alignas(64) std::atomic<uint32_t> released;   ///< number of the batch that may run; futex word
  alignas(64) std::atomic<uint32_t> finished;   ///< number of the batch that has run; futex word
  std::atomic<State> state;
  std::atomic<uint32_t> call;                   ///< of the batch, that runs or ran last
  std::atomic<uint32_t> outside;                ///< not 0: bytes beside a workspace (its number + 1) or scratch (all of them + 1) changed
  std::atomic<Left> left;                       ///< the state in which calls left a thread's processor
  alignas(64) uint32_t threads;
  uint32_t regions, launches, workspaces, tensors, calls;
  uint32_t library;   ///< not 0: an opponent's library, which may make system calls inside its jail
  Command command;
  uint32_t edges;     ///< not 0: workspaces and scratch begin and end, in turn, where mapped memory does; for checks
  uint64_t mark;      ///< what lies beside workspaces and scratch
  uint32_t emulated;  ///< not 0: a GPU kernel; entries get a simt::Context instead of scratch, on one thread
  int64_t arena_bytes;                          ///< emulated: address space for the emulator
  uint64_t seed;                                ///< emulated: of the order of turns
  uint64_t scrub;                               ///< not 0: no calls, but what a candidate may have kept is taken from it; random
  uint32_t warm;                                ///< not 0: each call's tensors are read just before it
  uint32_t idle;                                ///< not 0: and that is all
  simt::Report report;                          ///< emulated: why the process ended itself
  int64_t tensor_bytes[kMaxTensors];            ///< exact; used by the sanitized runner, the emulator, and where `warm` is set
  RegionInfo region[kMaxRegions];
  WorkspaceInfo workspace[kMaxWorkspaces];
  Launch launch[kMaxLaunches];
  OrderInfo order[kMaxCalls];
  PlacementInfo placement[kMaxCalls][kMaxTensors];
};

/// The library's table: entry i runs blocks [begin, end) of a launch's linearised grid, x fastest.
/// `arguments` holds one 8-byte slot an argument: a pointer or an integer.
using Entry = void (*)(const uint64_t* arguments, void* shared, const int64_t* grid, int64_t begin,
                       int64_t end);
inline constexpr const char* kEntriesSymbol = "hone_entries";
inline constexpr const char* kFirstCallSymbol = "hone_first_call";  ///< bool(): of a library, where there is one: a call before any is timed, and whether it has it

}  // namespace hone::target::worker
