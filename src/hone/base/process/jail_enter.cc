// The child's half of the jail: system calls only, between clone and exec.
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "hone/base/process/jail_plan.h"
#include "hone/base/process/landlock.h"
#include "hone/base/process/launch.h"

namespace hone::base {
namespace {

constexpr const char* kBuildingPlace = "/tmp";
constexpr int kDetach = 2;  // MNT_DETACH, whose header cannot live beside <linux/mount.h>

HONE_AFTER_CLONE bool mount_on(const char* type, const char* place, unsigned long flags,
                               const char* data) {
  return syscall(SYS_mount, type, place, type, flags, data) == 0;
}

HONE_AFTER_CLONE bool write_to(const char* path, const char* text, size_t size) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text, size) == static_cast<ssize_t>(size);
  close(fd);
  return written;
}

HONE_AFTER_CLONE bool map_user(const JailPlan& plan) {
  return write_to("/proc/self/uid_map", plan.uid_map.data(), plan.uid_map.size()) &&
         write_to("/proc/self/setgroups", "deny", 4) &&
         write_to("/proc/self/gid_map", plan.gid_map.data(), plan.gid_map.size());
}

/// Our own detached copy of what lies at the tree's path.
HONE_AFTER_CLONE bool take(JailPlan::Tree& tree) {
  tree.mount = static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, tree.path.c_str(),
                                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
  if (tree.mount < 0) return false;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID;
  if (!tree.writable) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  return syscall(SYS_mount_setattr, tree.mount, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                 sizeof attributes) == 0;
}

HONE_AFTER_CLONE bool make(const JailPlan::Entry& entry) {
  switch (entry.kind) {
    case JailPlan::Entry::Kind::kFolder:
      return mkdir(entry.path.c_str(), 0755) == 0;
    case JailPlan::Entry::Kind::kLink:
      return symlink(entry.target.c_str(), entry.path.c_str()) == 0;
    case JailPlan::Entry::Kind::kFile:
      break;
  }
  const int fd = open(entry.path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  close(fd);
  return true;
}

HONE_AFTER_CLONE bool place(JailPlan::Tree& tree) {
  const char* inside = tree.path.c_str() + 1;
  if (syscall(SYS_move_mount, tree.mount, "", AT_FDCWD, inside, MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return false;
  close(tree.mount);
  return true;
}

HONE_AFTER_CLONE bool make_read_only(const char* path) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &attributes, sizeof attributes) == 0;
}

HONE_AFTER_CLONE bool allow_proc(const JailPlan& plan, const char* path, uint64_t rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR) {
  if (!plan.ruleset) return true;
  const int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return true;
  const bool allowed = landlock::allow(plan.ruleset.get(), fd, rights);
  close(fd);
  return allowed;
}

}  // namespace

HONE_AFTER_CLONE const char* build_root(JailPlan& plan) {
  if (!map_user(plan)) return "map its user";
  if (unshare(CLONE_NEWPID) != 0) return "make a pid namespace";
  if (syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return "part from our mounts";
  for (JailPlan::Tree& tree : plan.trees)
    if (!take(tree)) return "copy a mount";
  if (!mount_on("tmpfs", kBuildingPlace, MS_NOSUID | MS_NODEV, "mode=755,size=1m") ||
      chdir(kBuildingPlace) != 0)
    return "mount an empty root";
  for (const JailPlan::Entry& entry : plan.entries)
    if (!make(entry)) return "fill its root";
  for (JailPlan::Tree& tree : plan.trees)
    if (!place(tree)) return "place a mount";
  return nullptr;
}

HONE_AFTER_CLONE const char* become_init(const JailPlan& plan) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Forbidden where ours is partly covered, as in containers; programs can do without. Only from in
  // here, and while the old /proc is in sight, may it be mounted.
  if (mount_on("proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr))
    // Kernels before 6.14 have one limit for all namespaces, which we may not change.
    (void)write_to("proc/sys/kernel/pid_max", plan.highest_pid.data(), plan.highest_pid.size());
  // Ignored, so that orphans are reaped without anybody waiting for them.
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &action, nullptr);
  char* const none[] = {nullptr};
  char name[] = "hone-init";
  char* const arguments[] = {name, nullptr};
  syscall(SYS_execveat, plan.init_program, "", arguments, none, AT_EMPTY_PATH);
  return "start an init";
}

HONE_AFTER_CLONE const char* move_in(const JailPlan& plan) {
  if (syscall(SYS_pivot_root, ".", ".") != 0 || syscall(SYS_umount2, ".", kDetach) != 0 ||
      chdir("/") != 0)
    return "move to its root";
  // Fails where nothing is mounted there, and then nothing is there to be written.
  (void)make_read_only("/proc");
  if (!make_read_only("/")) return "make its root read-only";
  if (!allow_proc(plan, "/proc")) return "allow /proc";
  return nullptr;
}

/// The folder of its own threads, mounted over itself without being read-only. Where there is no /proc nobody can name any.
HONE_AFTER_CLONE bool open_threads() {
  constexpr char kThreads[] = "/proc/self/task";
  const int threads = static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, kThreads, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (threads < 0) return errno == ENOENT;
  mount_attr attributes{};
  attributes.attr_clr = MOUNT_ATTR_RDONLY;
  const bool placed = syscall(SYS_mount_setattr, threads, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 &&
                      syscall(SYS_move_mount, threads, "", AT_FDCWD, kThreads, MOVE_MOUNT_F_EMPTY_PATH) == 0;
  close(threads);
  return placed;
}

HONE_AFTER_CLONE const char* confine(const JailPlan& plan) {
  for (const JailPlan::Limit& limit : plan.limits)
    if (setrlimit(static_cast<__rlimit_resource>(limit.resource), &limit.value) != 0)
      return "set its limits";
  if (plan.card && plan.namespaces && !open_threads()) return "let it name its threads";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "forbid new privileges";
  if (plan.ruleset) {
    if (!plan.namespaces && !allow_proc(plan, "/proc/self")) return "allow /proc/self";
    if (plan.card && !allow_proc(plan, "/proc/self/task", plan.on_threads))
      return "allow /proc/self/task";
    if (!landlock::restrict_self(plan.ruleset.get())) return "apply Landlock";
  }
  const sock_fprog filter{static_cast<unsigned short>(plan.filter.size()),
                          const_cast<sock_filter*>(plan.filter.data())};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) return "apply seccomp";
  return nullptr;
}

}  // namespace hone::base
