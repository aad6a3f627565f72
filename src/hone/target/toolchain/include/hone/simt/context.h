// What the process around an emulated GPU kernel tells the emulator in it for each launch, and the place
// where the emulator leaves what it found. Plain data, laid out alike for every compiler.
#pragma once
#include <stdint.h>

namespace hone::simt {

enum class BufferKind : uint32_t { kInput, kOutput, kWorkspace, kZeroed };

struct Buffer {
  char* base;
  int64_t bytes;      ///< exact
  BufferKind kind;
  uint32_t index;     ///< among the task's inputs and outputs, then the workspaces
};

enum class Finding : uint32_t {
  kNone,
  kOutOfBounds,
  kRace,
  kUninitialised,
  kDivergent,
  kDeadlock,
  kUndefined,         ///< misaligned, a shuffle from a lane that is not there, too large a stack
  kGlobal,            ///< writes a global variable
  kPhase,             ///< an asynchronous copy or a barrier's phase used wrongly
  kEmulator,          ///< the emulator has not got the room
};

/// The first finding of the smallest block and thread. `pc` and `other_pc` are offsets in the shared object.
struct Report {
  Finding finding;
  uint32_t launch;
  int64_t block[3];
  int64_t thread[3];
  uint64_t pc, other_pc;
  int32_t line, other_line;
  char text[400];
  uint64_t instructions;  ///< memory accesses, barriers and collectives seen so far
};

constexpr int kMaxBuffers = 160;
/// Clusters begin in a random order among so many; whoever waits only for earlier ones goes on where so many are there at a time.
constexpr int64_t kWindow = 16;

struct Context {
  char* arena;          ///< zero at first, kept between launches
  int64_t arena_bytes;
  Report* report;
  uint64_t call;        ///< counts calls, from 1
  uint32_t launch;      ///< index in the plan
  uint32_t buffers;
  int64_t shared_bytes; ///< dynamic
  int64_t resident;     ///< most blocks at a time
  bool fewer;           ///< than the device holds
  int64_t cluster[3];   ///< blocks that run together
  uint64_t seed;        ///< of the order in which threads, warps and blocks take turns
  Buffer buffer[kMaxBuffers];
};

}  // namespace hone::simt
