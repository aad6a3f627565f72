// The jail, in two halves. plan_jail() runs in our process and gathers everything a child will need:
// the file system it will see, a Landlock ruleset, a seccomp filter, limits. The rest runs in the
// child between clone and exec and only makes system calls (see launch.h).
// Files are fenced twice, by a mount namespace that holds nothing else and by Landlock, so that
// either is enough where the other is missing.
#pragma once
#include <linux/filter.h>
#include <sys/resource.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/process/process.h"

namespace hone::base {

struct JailPlan {
  /// Something in the new root that no bound tree brings along.
  struct Entry {
    enum class Kind : uint8_t { kFolder, kFile, kLink } kind;
    std::string path;    ///< relative to the root
    std::string target;  ///< of a link
  };
  /// A file or folder of ours that appears at the same place inside.
  struct Tree {
    std::string path;  ///< absolute, without links
    bool writable = false;
    bool folder = true;
    int mount = -1;  ///< the child's descriptor while it builds
  };
  struct Limit {
    int resource;
    rlimit value;
  };

  bool namespaces = false;
  bool network = false, card = false;
  std::string uid_map, gid_map;
  std::vector<Entry> entries;  ///< parents first
  std::vector<Tree> trees;     ///< parents first
  std::string highest_pid;     ///< bounds processes inside; works for root too, unlike RLIMIT_NPROC
  std::vector<Limit> limits;
  Fd ruleset;                  ///< Landlock; none where the kernel has none
  uint64_t on_threads = 0;     ///< rights by it on /proc/self/task, for a card
  std::span<const sock_filter> filter;
  int init_program = -1;       ///< to execute as the pid namespace's init
};

/// `program` becomes readable too. Fails when a named path does not exist.
[[nodiscard]] Result<JailPlan> plan_jail(const Jail& jail, const std::filesystem::path& program,
                                         const JailSupport& support);

// Parts of the plan.
[[nodiscard]] Result<Fd> landlock_ruleset(const JailPlan& plan, int abi);
/// The filter for programs in a jail; built once, lives forever.
[[nodiscard]] std::span<const sock_filter> jail_filter(const Jail& jail);
/// An executable in memory that sleeps until it is killed; -1 where that is not allowed.
[[nodiscard]] int init_program();

// In the child. Each returns null, or the step that failed with its reason in errno.

/// In a process that is already in new user, mount and other namespaces: maps its user and fills the
/// future root, the current folder afterwards. Its children will be in a pid namespace of their own.
const char* build_root(JailPlan& plan);
/// In the first such child: mounts /proc in the future root, bounds the number of processes and
/// becomes the init of the namespace; returns only on failure.
const char* become_init(const JailPlan& plan);
/// Makes the future root the root of both, read-only.
const char* move_in(const JailPlan& plan);
/// Just before exec: limits, no new privileges, Landlock, seccomp.
const char* confine(const JailPlan& plan);

}  // namespace hone::base
