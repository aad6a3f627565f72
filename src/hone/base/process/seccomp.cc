// System-call filters: what a jailed program may not ask for, and what little is left to a runner
// after lock_down().
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "hone/base/process/jail_plan.h"

namespace hone::base {
namespace {

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

constexpr uint64_t kInt = 0xffffffff;  ///< the kernel looks at 32 bits of an int argument only
constexpr uint64_t kSetSignal = 10;     ///< fcntl's F_SETSIG, a GNU name
constexpr uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);

/// Refused to every jailed program. Numbers missing on an architecture are skipped.
constexpr std::array kForbidden = {
    // Other processes, shared memory with them, and memory that no limit counts.
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_getfd), SCMP_SYS(process_madvise), SCMP_SYS(move_pages),
    SCMP_SYS(migrate_pages), SCMP_SYS(shmget), SCMP_SYS(semget), SCMP_SYS(msgget),
    SCMP_SYS(memfd_create),
    // A way out of the group that is killed at the deadline.
    SCMP_SYS(setsid), SCMP_SYS(setpgid),
    // Mounts and namespaces.
    SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(mount_setattr), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(unshare), SCMP_SYS(setns),
    SCMP_SYS(open_by_handle_at), SCMP_SYS(fanotify_init), SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd),
    // Large or risky parts of the kernel.
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(keyctl), SCMP_SYS(add_key),
    SCMP_SYS(request_key), SCMP_SYS(memfd_secret), SCMP_SYS(personality), SCMP_SYS(modify_ldt),
    SCMP_SYS(lookup_dcookie), SCMP_SYS(vmsplice),
    // The machine itself.
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff),
    SCMP_SYS(acct), SCMP_SYS(syslog), SCMP_SYS(sethostname), SCMP_SYS(setdomainname),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex),
    SCMP_SYS(stime), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(vhangup)};

/// Newer than the library's table; the same number everywhere.
constexpr std::array kForbiddenByNumber = {467 /* open_tree_attr */};

constexpr std::array kNetwork = {SCMP_SYS(socket), SCMP_SYS(bind),   SCMP_SYS(connect),
                                 SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4)};

constexpr std::array kNamespaceFlags = {CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,   CLONE_NEWNET,
                                        CLONE_NEWIPC, CLONE_NEWUTS,  CLONE_NEWCGROUP};

/// Left to a locked-down runner without conditions. Nothing here gives memory back or takes it: what is shared with
/// others has to stay as it is.
constexpr std::array kCompute = {
    SCMP_SYS(futex),         SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),   SCMP_SYS(gettimeofday),
    SCMP_SYS(time),          SCMP_SYS(getcpu),        SCMP_SYS(sched_yield),    SCMP_SYS(write),
    SCMP_SYS(writev),        SCMP_SYS(rt_sigreturn),  SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall),
    SCMP_SYS(getpid),        SCMP_SYS(gettid),        SCMP_SYS(rseq),           SCMP_SYS(exit),
    SCMP_SYS(exit_group)};

/// What the C library does without when it is refused (an abort that wants room for its message).
constexpr std::array kMoreMemory = {SCMP_SYS(mmap), SCMP_SYS(brk)};

/// What a loader needs besides.
constexpr std::array kLoading = {
    SCMP_SYS(openat),     SCMP_SYS(open),     SCMP_SYS(close),     SCMP_SYS(read),       SCMP_SYS(pread64),
    SCMP_SYS(lseek),      SCMP_SYS(fstat),    SCMP_SYS(stat),      SCMP_SYS(newfstatat), SCMP_SYS(statx),
    SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),     SCMP_SYS(mmap),     SCMP_SYS(munmap),    SCMP_SYS(mremap),     SCMP_SYS(mprotect),
    SCMP_SYS(madvise),    SCMP_SYS(brk),      SCMP_SYS(getrandom), SCMP_SYS(uname),      SCMP_SYS(prlimit64),
    SCMP_SYS(sysinfo),    SCMP_SYS(sched_getaffinity), SCMP_SYS(prctl), SCMP_SYS(seccomp)};

template <class... Conditions>
bool rule(const Context& context, uint32_t action, int call, Conditions... conditions) {
  const std::array<scmp_arg_cmp, sizeof...(conditions)> list{conditions...};
  const int result = seccomp_rule_add_array(context.get(), action, call, sizeof...(conditions),
                                            list.data());
  return result == 0 || result == -EDOM;  // the call does not exist on this architecture
}

scmp_arg_cmp is(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}
scmp_arg_cmp is_not(unsigned argument, uint64_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}

bool forbid_network(const Context& context, bool card) {
  bool good = true;
  for (const int call : kNetwork)
    if (!card || (call != SCMP_SYS(socket) && call != SCMP_SYS(bind) && call != SCMP_SYS(listen))) good &= rule(context, kRefuse, call);
  if (card) good &= rule(context, kRefuse, SCMP_SYS(socket), is_not(0, AF_UNIX));
  // A connected pair is only a pipe, but a datagram socket could still be pointed at somebody else.
  good &= rule(context, kRefuse, SCMP_SYS(socketpair), is_not(0, AF_UNIX));
  for (const int type : {SOCK_DGRAM, SOCK_RAW}) {
    good &= rule(context, kRefuse, SCMP_SYS(socketpair), is(1, 0xf, static_cast<uint64_t>(type)));
    if (card) good &= rule(context, kRefuse, SCMP_SYS(socket), is(1, 0xf, static_cast<uint64_t>(type)));
  }
  return good;
}

/// Nobody inside may undo freeze(), not even by a signal to come.
bool forbid_waking(const Context& context) {
  bool good = true;
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo),
                         SCMP_SYS(pidfd_send_signal)})
    good &= rule(context, kRefuse, call, is(1, kInt, SIGCONT));
  for (const int call : {SCMP_SYS(tgkill), SCMP_SYS(rt_tgsigqueueinfo)})
    good &= rule(context, kRefuse, call, is(2, kInt, SIGCONT));
  for (const int call : {SCMP_SYS(timer_create), SCMP_SYS(mq_notify)})
    good &= rule(context, kRefuse, call);
  return good && rule(context, kRefuse, SCMP_SYS(fcntl), is(1, kInt, kSetSignal));
}

/// freeze() stops one process, so a runner gets no second one. Threads it may have, but not the
/// kind that a parent waits for uninterruptibly.
bool forbid_children(const Context& context) {
  return rule(context, kRefuse, SCMP_SYS(fork)) && rule(context, kRefuse, SCMP_SYS(vfork)) &&
         rule(context, kRefuse, SCMP_SYS(clone), is(0, CLONE_THREAD, 0)) &&
         rule(context, kRefuse, SCMP_SYS(clone), is(0, CLONE_VFORK, CLONE_VFORK));
}

bool fill(const Context& context, const Jail& jail) {
  bool good = true;
  for (const int call : kForbidden) good &= rule(context, kRefuse, call);
  for (const int call : kForbiddenByNumber) good &= rule(context, kRefuse, call);
  for (const int flag : kNamespaceFlags)
    good &= rule(context, kRefuse, SCMP_SYS(clone),
                 is(0, static_cast<uint64_t>(flag), static_cast<uint64_t>(flag)));
  // Its flags lie in memory, out of a filter's sight. Libraries fall back on clone.
  good &= rule(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  good &= rule(context, kRefuse, SCMP_SYS(prctl), is(0, kInt, PR_SET_PDEATHSIG));
  good &= rule(context, kRefuse, SCMP_SYS(prlimit64), is_not(0, 0));
  good &= forbid_waking(context);
  if (!jail.network) good &= forbid_network(context, jail.card);
  if (jail.calls == Jail::Calls::kRunner) good &= forbid_children(context);
  return good;
}

std::vector<sock_filter> compile(const Jail& jail) {
  const Context context(seccomp_init(SCMP_ACT_ALLOW));
  HONE_CHECK(context && fill(context, jail), "the jail's filter is inconsistent");
  // Calls by another architecture's numbers would walk past the rules.
  seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  const Fd file(memfd_create("filter", MFD_CLOEXEC));
  HONE_CHECK(file && seccomp_export_bpf(context.get(), file.get()) == 0);
  const off_t bytes = lseek(file.get(), 0, SEEK_END);
  std::vector<sock_filter> program(static_cast<size_t>(bytes) / sizeof(sock_filter));
  HONE_CHECK(pread(file.get(), program.data(), static_cast<size_t>(bytes), 0) == bytes);
  return program;
}

bool allow_computing(const Context& context) {
  bool good = true;
  for (const int call : kCompute) good &= rule(context, SCMP_ACT_ALLOW, call);
  // abort() signals itself.
  return good && rule(context, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), is(0, kInt, static_cast<uint64_t>(getpid())),
                      is(2, kInt, SIGABRT));
}

/// For all threads, or for none.
Status lock(const Context& context, bool consistent) {
  HONE_CHECK(consistent, "the runner's filter is inconsistent");
  seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  if (const int error = seccomp_load(context.get()); error != 0)
    return fail(ErrorCode::kUnavailable, fmt::format("cannot lock the runner down: {}", std::strerror(-error)));
  return {};
}

}  // namespace

std::span<const sock_filter> jail_filter(const Jail& jail) {
  static std::mutex mutex;
  static std::map<std::tuple<Jail::Calls, bool, bool>, std::vector<sock_filter>> built;
  const std::lock_guard lock(mutex);
  std::vector<sock_filter>& filter = built[{jail.calls, jail.network, jail.card}];
  if (filter.empty()) filter = compile(jail);
  return filter;
}

Status lock_down_but_for_loading() {
  const Context context(seccomp_init(kRefuse));
  bool good = context && allow_computing(context);
  for (const int call : kLoading) good &= rule(context, SCMP_ACT_ALLOW, call);
  return lock(context, good);
}

Status lock_down() {
  const Context context(seccomp_init(SCMP_ACT_KILL_PROCESS));
  bool good = context && allow_computing(context);
  for (const int call : kMoreMemory) good &= rule(context, kRefuse, call);
  return lock(context, good);
}

}  // namespace hone::base
