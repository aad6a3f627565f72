// What the jail tests do inside: each behaviour tries something and prints how it went, "ok" or the
// name of the error.
#pragma once
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "hone/base/process/testing/behaviour.h"

namespace hone::base::testing {

inline int say(bool good) {
  std::printf("%s\n", good ? "ok" : strerrorname_np(errno));
  return 0;
}

inline int read_one_byte(const Arguments& a) {
  char byte;
  const int fd = ::open(a[0].c_str(), O_RDONLY);
  return say(fd >= 0 && ::read(fd, &byte, 1) >= 0);
}

inline int list_folder(const Arguments& a) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(a[0], error))
    std::printf("%s\n", entry.path().filename().c_str());
  return 0;
}

inline int write_one_byte(const Arguments& a) {
  const int fd = ::open(a[0].c_str(), O_WRONLY | O_CREAT, 0644);
  return say(fd >= 0 && ::write(fd, "x", 1) == 1);
}

inline int rename_file(const Arguments& a) {
  return say(::rename(a[0].c_str(), a[1].c_str()) == 0);
}

inline int open_socket(const Arguments& a) {
  const std::map<std::string, int> families = {
      {"inet", AF_INET}, {"inet6", AF_INET6}, {"unix", AF_UNIX}, {"netlink", AF_NETLINK}};
  return say(::socket(families.at(a[0]), SOCK_DGRAM, 0) >= 0);
}

/// A UNIX socket with a name that waits for others, and what comes of reaching for it.
inline int name_socket(const Arguments& a) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "hone-%d", ::getpid());
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (a[0] == "bind") return say(fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && ::listen(fd, 1) == 0);
  return say(fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

inline int name_thread(const Arguments&) {
  const int fd = ::open(("/proc/self/task/" + std::to_string(::gettid()) + "/comm").c_str(), O_WRONLY | O_TRUNC);
  return say(fd >= 0 && ::write(fd, "named", 5) == 5);
}

inline int pair_sockets(const Arguments& a) {
  int ends[2];
  return say(::socketpair(AF_UNIX, a[0] == "stream" ? SOCK_STREAM : SOCK_DGRAM, 0, ends) == 0);
}

inline int send_signal(const Arguments& a) {
  return say(::kill(std::stoi(a[0]), std::stoi(a[1])) == 0);
}

inline int trace(const Arguments& a) {
  return say(::ptrace(PTRACE_SEIZE, std::stoi(a[0]), nullptr, nullptr) == 0);
}

/// Tries each call with arguments that do no harm and names those that were not refused.
inline int try_forbidden_calls(const Arguments&) {
  const std::map<std::string, std::array<long, 4>> calls = {
      {"mount", {SYS_mount}},
      {"unshare", {SYS_unshare, CLONE_NEWUSER}},
      {"setns", {SYS_setns, -1}},
      {"clone with a user namespace", {SYS_clone, CLONE_NEWUSER | SIGCHLD}},
      {"bpf", {SYS_bpf, -1}},
      {"perf_event_open", {SYS_perf_event_open}},
      {"userfaultfd", {SYS_userfaultfd, -1}},
      {"io_uring_setup", {SYS_io_uring_setup}},
      {"keyctl", {SYS_keyctl, -1}},
      {"init_module", {SYS_init_module}},
      {"reboot", {SYS_reboot}},
      {"swapon", {SYS_swapon}},
      {"setsid", {SYS_setsid}},
      {"memfd_create", {SYS_memfd_create}},
      {"process_vm_readv", {SYS_process_vm_readv, -1}},
      {"prctl(PR_SET_PDEATHSIG)", {SYS_prctl, 1, 0}},
      {"kill(0, SIGCONT)", {SYS_kill, 0, SIGCONT}},
      {"fcntl(F_SETSIG)", {SYS_fcntl, 0, 10, 0}},
      {"prlimit of another process", {SYS_prlimit64, 1, 0, 0}},
  };
  for (const auto& [name, call] : calls)
    if (syscall(call[0], call[1], call[2], call[3]) != -1 || errno != EPERM)
      std::printf("%s: %s\n", name.c_str(), strerrorname_np(errno));
  return 0;
}

/// Forks until that fails, at most 2000 times; prints how many there were.
inline int multiply(const Arguments&) {
  int children = 0;
  for (; children < 2000; ++children) {
    const int pid = ::fork();
    if (pid < 0) break;
    if (pid == 0) {
      ::pause();
      _exit(0);
    }
  }
  std::printf("%d\n", children);
  return 0;
}

inline int start_threads(const Arguments& a) {
  std::vector<std::thread> threads;
  for (int i = 0; i < std::stoi(a[0]); ++i) threads.emplace_back([] {});
  for (std::thread& thread : threads) thread.join();
  return say(true);
}

/// Prints how many bytes it could write.
inline int fill_disk(const Arguments& a) {
  ::signal(SIGXFSZ, SIG_IGN);
  const int fd = ::open(a[0].c_str(), O_WRONLY | O_CREAT, 0644);
  const std::string block(4096, 'x');
  long written = 0;
  for (ssize_t n; written < (1L << 28) && (n = ::write(fd, block.data(), block.size())) > 0;)
    written += n;
  std::printf("%ld\n", written);
  return 0;
}

inline int eat_memory(const Arguments& a) {
  return say(::mmap(nullptr, std::stoul(a[0]), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
}

inline int burn_cpu(const Arguments&) {
  for (std::atomic<unsigned> turns{0};;) ++turns;
}

inline int abort_itself(const Arguments&) { std::abort(); }

/// Leaves an orphan behind that would outlive everything, and writes its own number.
inline int leave_an_orphan(const Arguments& a) {
  if (::fork() == 0) {
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    const int fd = ::open(a[0].c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (;;) {
      if (::write(fd, "x", 1) != 1) _exit(1);
      ::usleep(5000);
    }
  }
  if (a.size() > 1) ::pause();
  ::usleep(50000);
  return 0;
}

/// Owns a jailed child that leaves an orphan and stays.
inline int own_an_inmate(const Arguments& a) {
  SpawnOptions options = behave("leave_an_orphan", {a[0], "stay"});
  options.jail = Jail{};
  options.jail->writable = {std::filesystem::path(a[0]).parent_path()};
  const auto child = Child::spawn(options);
  if (!child) return 1;
  ::pause();
  return 0;
}

/// Locks itself down, but for loading, with a second thread alive, then does one thing. Prints how it went.
inline int load_and(const Arguments& a) {
  alignas(4096) static char page[4096];
  const int file = ::open("/proc/self/exe", O_RDONLY);
  if (!lock_down_but_for_loading()) return 1;
  if (a[0] == "map code") return say(::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED);
  if (a[0] == "seal") return say(::mprotect(page, sizeof page, PROT_READ) == 0);
  if (a[0] == "open") return say(::open("/dev/null", O_RDONLY) >= 0);
  if (a[0] == "thread") return say(::syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, nullptr, 0, 0, 0) >= 0);
  if (a[0] == "fork") return say(::fork() >= 0);
  if (a[0] == "kill") return say(::kill(::getppid(), 0) == 0);
  if (a[0] == "memfd") return say(::memfd_create("x", 0) >= 0);
  return 1;
}

/// Locks itself down with a second thread alive, then does one thing. Prints "done" if it lives.
inline int lock_and(const Arguments& a) {
  std::atomic<int> step{0};
  std::thread other([&] {
    step = 1;
    while (step != 2) sched_yield();
    if (a[0] == "open in another thread") ::open("/dev/null", O_RDONLY);
    step = 3;
    for (;;) sched_yield();  // ending gives memory back
  });
  while (step != 1) sched_yield();
  std::vector<double> values(1 << 20, 1.5);
  alignas(4096) static char page[4096];
  if (!lock_down_but_for_loading() || !lock_down()) return 1;
  const auto write_out = [](const char* text) { return ::write(1, text, strlen(text)) > 0; };
  if (a[0] == "compute") {
    double sum = 0;
    for (double value : values) sum += value;
    if (sum < 1) return 1;
  }
  // No more memory, and no harm done by asking.
  if (a[0] == "compute" && ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return 1;
  if (a[0] == "open") ::open("/dev/null", O_RDONLY);
  if (a[0] == "read") { char byte; (void)!::read(0, &byte, 1); }
  if (a[0] == "fork") ::fork();
  if (a[0] == "kill") ::kill(::getppid(), 0);
  if (a[0] == "abort") std::abort();
  if (a[0] == "socket") ::socketpair(AF_UNIX, SOCK_STREAM, 0, nullptr);
  if (a[0] == "sleep") ::usleep(1);
  if (a[0] == "give memory back") ::madvise(page, sizeof page, MADV_DONTNEED);
  if (a[0] == "punch a hole") ::madvise(page, sizeof page, MADV_REMOVE);
  if (a[0] == "unmap") ::munmap(page, sizeof page);
  if (a[0] == "move memory") (void)!::mremap(page, sizeof page, 2 * sizeof page, MREMAP_MAYMOVE);
  if (a[0] == "make code") (void)!::mprotect(page, sizeof page, PROT_READ | PROT_EXEC);
  step = 2;
  while (step != 3) sched_yield();
  if (!write_out("done\n")) return 1;
  _exit(0);
}

/// Runs this program's other tests where a call is refused, as a container or an old kernel would.
inline int run_tests_without(const Arguments& a) {
  const scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (a[0] == "namespaces")
    seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                     SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
  if (a[0] == "Landlock")
    seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0);
  if (seccomp_load(context) != 0) return 1;
  seccomp_release(context);
  std::string program = "test", filter = "--gtest_filter=Jail.*";
  char* argv[] = {program.data(), filter.data(), nullptr};
  int argc = 2;
  ::testing::InitGoogleTest(&argc, argv);
  std::printf("%s\n", probe_jail().to_string().c_str());
  return RUN_ALL_TESTS();
}

inline const Behaviours kInmates = {
    {"read_one_byte", read_one_byte},
    {"list_folder", list_folder},
    {"write_one_byte", write_one_byte},
    {"rename_file", rename_file},
    {"open_socket", open_socket},
    {"pair_sockets", pair_sockets},
    {"name_socket", name_socket},
    {"name_thread", name_thread},
    {"send_signal", send_signal},
    {"trace", trace},
    {"try_forbidden_calls", try_forbidden_calls},
    {"multiply", multiply},
    {"start_threads", start_threads},
    {"fill_disk", fill_disk},
    {"eat_memory", eat_memory},
    {"burn_cpu", burn_cpu},
    {"abort_itself", abort_itself},
    {"leave_an_orphan", leave_an_orphan},
    {"own_an_inmate", own_an_inmate},
    {"lock_and", lock_and},
    {"load_and", load_and},
    {"run_tests_without", run_tests_without},
};

}  // namespace hone::base::testing
