// What the emulator knows while a launch runs: blocks, warps, threads, the memory it may touch, the clock that
// orders accesses, and the finding so far. One operating-system thread runs everything; kernels' code sees
// none of this. Everything lives in the arena that the process around gave, or in a few globals.
#pragma once
#include "hone/simt/context.h"
#include "hone/simt/runtime/fiber.h"
#include "hone/simt/tensor_call.h"

// Set by the toolchain: lanes of a warp (cuda) or wave (hip).
#ifndef HONE_SIMT_WAVE
#define HONE_SIMT_WAVE 32
#endif

#define HONE_SIMT_API extern "C" __attribute__((visibility("hidden")))

// Bounds of the kernels' __shared__ variables and of the whole shared object (the toolchain's linker script).
extern "C" __attribute__((visibility("hidden"))) char hone_shared_begin[], hone_shared_end[];
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace hone::simt {

constexpr int kWave = HONE_SIMT_WAVE;
constexpr int kMostThreads = 1024;
constexpr int kMostWarps = kMostThreads / kWave;
constexpr int kMostCluster = 16;   ///< blocks
#if defined(HONE_SIMT_ASAN)
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 64 << 10;
#endif
constexpr uint64_t kCanary = 0x5afe57acca7a9d01;
/// Largest dynamic shared memory of any target (bytes).
constexpr int64_t kMostDynamic = 232448;

enum class State : uint8_t { kNew, kReady, kAtBarrier, kAtCollective, kAtCluster, kGone };

enum class Kind : int32_t {
  kShuffle, kShuffleUp, kShuffleDown, kShuffleXor, kBallot, kMatchAny, kMatchAll, kSync, kActive,
  kAdd, kMinS, kMaxS, kMinU, kMaxU, kAnd, kOr, kXor, kMatrix
};

struct Thread {
  void* sp;
  char* stack;
  uint64_t value;        ///< of a collective: what it brings, then what it gets
  int32_t param, width;
  int32_t line;          ///< where it waits
  uint32_t pc;           ///< of the collective that it came to last
  uint32_t acquired;     ///< everything up to this time happened before what it does now
  uint32_t fence;        ///< time of its last fence
  uint32_t near_fence;   ///< of its last one for its block alone
  uint32_t warp_time;    ///< of the last synchronisation of its warp that it took part in
  uint32_t phase_time;   ///< of the last phase that it waited for, or a lane that it met in a synchronisation of the warp
  uint32_t cluster_time, cluster_before;  ///< of the last phase of its cluster's barrier that it waited for, and the one before
  uint32_t cluster_phase;                 ///< of that barrier, to which it came
  bool cluster_came;                      ///< and has not waited for it
  uint32_t reached[kMostCluster];         ///< what block `rank` of its cluster read in its own shared memory up to then, it had let go of
  uint32_t waits_pc;     ///< where it last asked for a phase that is not complete; 0: nowhere
  uint16_t waits_for;    ///< which of its block's barriers with phases that is
  uint16_t x, y, z;
  State state;
  bool spins;            ///< gave way while it waited for memory to change
};

/// Lanes that wait for each other in one collective.
struct Slot {
  uint64_t mask, arrived;  ///< mask 0: whoever is there when nobody in the warp can run
  Kind kind;
  int32_t line;
};

struct Warp {
  uint64_t ready, gone;    ///< lanes; those beyond the block's end are gone
  int slots;
  Slot slot[kWave];
  uint64_t products, products_mark;  ///< of its group: how many it has issued, and which
  uint32_t products_pc;              ///< the last one's place
};

/// A barrier with phases (mbarrier) in shared memory.
struct Phases {
  int64_t offset;          ///< in shared memory
  int64_t bytes;           ///< expected and not there yet in this phase
  uint32_t count, pending; ///< arrivals of a phase; of them still missing
  uint32_t phase;          ///< counts the complete ones
  uint32_t time, acquired; ///< when the last one was complete; what those who came had acquired
  uint32_t pc;             ///< where it was initialised
  uint32_t cluster_time, cluster_before;   ///< what those who came had waited for
  uint32_t reached[kMostCluster];          ///< when a thread of the cluster's block `rank`, another than its own, last came
};

/// A bulk copy into shared memory that has not arrived.
struct Flight {
  const char* from;
  int64_t offset, bytes;   ///< in shared memory
  int64_t barrier;         ///< its offset in shared memory
  uint32_t who, pc;        ///< thread and place of the copy
  int rank;                ///< of the block whose thread that is
  TensorTile tile;         ///< of a tensor's, swizzled; no rows: bytes as they lie
};
constexpr int kMostPhases = 512, kMostFlights = 512;

/// One for each four bytes that several threads may touch: the last write and the last reads.
/// who: thread (24 bits, blocks modulo 2^14), bytes (4 bits), atomic, how many threads read (2 bits: one, one warp's,
/// one block's, any), and whether between coming to the cluster's barrier and its phase's end.
struct Cell {
  uint32_t w_time, w_who, r_time, r_who, w_pc, r_pc;
  uint32_t was;            ///< what an atomic or volatile write found there
  uint32_t released_near;  ///< up to which time an acquiring read of it orders, by a thread of the writer's block
};

/// A word that an asynchronous copy was issued to, whose thread has not waited for it.
constexpr uint8_t kAwaited = 16;
/// A word of memory that an atomic or volatile access wrote and nobody has read since; and what it held before nobody had written.
constexpr uint8_t kUnread = 32, kHeldNothing = 64;

struct Shadow {
  Cell* cells;
  uint8_t* valid;          ///< four bits: bytes that were written; or kAwaited; kUnread, kHeldNothing
  uint32_t* released;      ///< up to which time an acquiring read of it orders
  int64_t words;
};

struct Block;

/// What either knows of how far the cluster's blocks have read.
inline void raise_reached(uint32_t (&to)[kMostCluster], const uint32_t (&from)[kMostCluster], int blocks, uint32_t most = UINT32_MAX) {
  for (int rank = 0; rank < blocks; ++rank) {
    const uint32_t time = from[rank] < most ? from[rank] : most;
    if (time > to[rank]) to[rank] = time;
  }
}

/// Blocks that run together; without clusters each block is one. Its barrier: phases, each complete when all threads came.
struct Cluster {
  int64_t number;
  Block* blocks;           ///< m.cluster of them, by rank
  int unfinished;          ///< blocks
  int came;                ///< threads, in this phase
  int left;                ///< of those the ones that have ended
  int gone;                ///< threads that ended before they came
  int32_t line;            ///< of the first that came
  uint32_t phase, time, before;            ///< how many are complete; when the last one was, the one before
  uint32_t acquired, fence;                ///< what those who came had acquired and published, in the last phase
  uint32_t pending_acquired, pending_fence;
  bool active;
};

struct Block {
  int64_t index;
  uint32_t number;         ///< neighbours in a cluster have neighbouring ones: what `who` holds
  int rank;
  Cluster* cluster;
  uint32_t x, y, z;
  Thread* threads;
  Warp* warps;
  char* saved;             ///< shared memory while another block runs
  uint8_t* saved_valid;
  Shadow shadow;           ///< in clusters, where others touch it too; else all blocks in turn have one
  int live, at_barrier;
  int32_t barrier_line;
  int count, result;       ///< threads whose predicate holds: so far, of the last barrier
  uint32_t time, acquired, pending_acquired, fence;
  uint32_t began;                          ///< time
  uint32_t cluster_time, cluster_before;   ///< as a thread's: what one has waited for, all have behind a barrier
  uint32_t reached[kMostCluster];          ///< likewise
  uint32_t covered, covers;                ///< what its threads did up to then, a phase of the cluster's barrier orders: this one, the last
  int at_cluster;                          ///< threads that wait at the cluster's barrier
  bool active;
  int phases_count, flights_count;
  Phases phases[kMostPhases];
  Flight flights[kMostFlights];
};

struct Machine {
  Context* context;
  Block* block;            ///< running
  Thread* thread;          ///< running; null in the scheduler
  uint32_t me;             ///< its `who`
  int lane;
  Warp* warp;
  void* scheduler;         ///< its stack pointer
  uint32_t clock;
  int64_t budget;          ///< accesses until somebody else gets a turn
  uint64_t progress, count;
  uint64_t random;
  int64_t grid[3], dims[3];
  int threads, warps;
  void (*call)(const uint64_t*);
  // Memory: kernels' shared memory first, static and then dynamic.
  char *shared, *dynamic;
  int64_t static_bytes, dynamic_bytes;
  Shadow shared_shadow;    ///< of the block in shared memory
  Shadow one_shadow;       ///< for all launches without clusters
  Shadow shadow[kMaxBuffers];
  char *stacks, *stacks_end;
  char** free_stacks;
  int free_count;
  int last_buffer;
  // Blocks' shared memory while others run. The cluster's blocks, its extents, and the bits that its ranks take.
  char* aside;
  int64_t aside_bytes, aside_step;
  Block* blocks;
  int cluster, rank_bits;
  int64_t cluster_dims[3];
  bool found;
  int64_t found_cluster;
  uint32_t found_phase;    ///< of that cluster's barrier
  uint32_t found_time;     ///< of the block's barrier before it
  bool held;               ///< in the middle of an atomic access
  // Memory that holds what it held before until the running thread has read it; no bytes: none.
  char* old_at;
  int64_t old_bytes;
  char old_now[16];        ///< what it holds in truth
  uint32_t began;          ///< time
};

inline Machine m;
inline uint64_t arguments[kMaxBuffers * 2];

inline uint64_t random64() {
  m.random ^= m.random << 13;
  m.random ^= m.random >> 7;
  m.random ^= m.random << 17;
  return m.random;
}

/// Not memcpy and memset: AddressSanitizer takes those for the kernel's.
inline void copy_words(void* to, const void* from, int64_t bytes) {
  auto* t = static_cast<uint64_t*>(to);
  auto* f = static_cast<const uint64_t*>(from);
  for (int64_t i = 0; i < bytes / 8; ++i) {
    t[i] = f[i];
    asm volatile("" ::: );
  }
}
inline void fill_words(void* to, uint64_t value, int64_t bytes) {
  auto* t = static_cast<uint64_t*>(to);
  for (int64_t i = 0; i < bytes / 8; ++i) {
    t[i] = value;
    asm volatile("" ::: );
  }
}

inline int thread_number(const Thread* t) { return static_cast<int>(t - m.block->threads); }

}  // namespace hone::simt
