// The moment a program starts. Everything is prepared in a LaunchPlan beforehand; launch() then
// clones a child that shares our memory while the cloning thread is suspended (CLONE_VM |
// CLONE_VFORK), so a start costs the same however large we are, and the child reports a failed step
// by writing it into the plan's result. Between clone and exec only system calls are made.
// Thread-safe: one long-lived thread does all cloning, because PR_SET_PDEATHSIG follows the thread
// that cloned, not the process.
#pragma once
#include <sched.h>

#include <vector>

#include "hone/base/file.h"

namespace hone::base {

struct JailPlan;

/// Descriptor `from` of ours becomes the child's `to`.
struct DescriptorMove {
  int from = -1, to = -1;
  int parked = -1;  ///< the child's copy while numbers may still overlap
};

struct LaunchPlan {
  const char* program = nullptr;  ///< absolute; null: a rehearsal that ends before it would exec
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;       ///< null: stay
  std::vector<DescriptorMove> descriptors;  ///< standard streams included
  int parking_floor = 0;                 ///< above every `to`
  bool pinned = false;                   ///< to `affinity`; else as the cloning thread
  cpu_set_t affinity{};
  JailPlan* jail = nullptr;              ///< null: none
};

struct LaunchResult {
  int pid = -1;              ///< of the program, a child of ours; -1: it could not be started
  int init_pid = -1;         ///< of its pid namespace's init, also ours; -1: no such namespace
  const char* step = "prepare it";  ///< what failed
  int error = 0;             ///< errno of that step
};

[[nodiscard]] LaunchResult launch(LaunchPlan& plan);

/// Marks code that runs between clone and exec: on a foreign stack, in shared memory.
#define HONE_AFTER_CLONE __attribute__((no_sanitize("address", "undefined", "thread")))

}  // namespace hone::base
