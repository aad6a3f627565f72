#include "hone/base/process/launch.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>

#include "hone/base/result.h"

namespace hone::base {
namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr int kFirstFreeDescriptor = 3;

/// What the cloned child sees of us.
struct Launch {
  LaunchPlan* plan;
  LaunchResult* result;
  int parent;
};

[[noreturn]] HONE_AFTER_CLONE void give_up(Launch& launch, const char* step) {
  launch.result->error = errno;
  launch.result->step = step;
  _exit(127);
}

HONE_AFTER_CLONE void default_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
}

/// Kernels before 5.11 cannot mark a range: one by one then.
HONE_AFTER_CLONE void close_everything_on_exec() {
  if (syscall(SYS_close_range, kFirstFreeDescriptor, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (rlim_t fd = kFirstFreeDescriptor; fd < limit.rlim_cur; ++fd)
    fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
}

/// All sources are parked above all targets first, so that any numbers may overlap.
HONE_AFTER_CLONE bool place_descriptors(LaunchPlan& plan) {
  for (DescriptorMove& move : plan.descriptors) {
    move.parked = fcntl(move.from, F_DUPFD_CLOEXEC, plan.parking_floor);
    if (move.parked < 0) return false;
  }
  close_everything_on_exec();
  for (const DescriptorMove& move : plan.descriptors)
    if (dup2(move.parked, move.to) < 0) return false;
  return true;
}

HONE_AFTER_CLONE int become_program(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  LaunchPlan& plan = *launch.plan;
  default_signals();
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(127);
  if (sched_setaffinity(0, sizeof plan.affinity, &plan.affinity) != 0)
    give_up(launch, "pin it to its CPU");
  if (!place_descriptors(plan)) give_up(launch, "hand over its descriptors");
  if (plan.directory && chdir(plan.directory) != 0) give_up(launch, "enter its folder");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(plan.program, plan.arguments, plan.environment);
  give_up(launch, "execute it");
}

void reap(int pid) {
  while (waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

/// The thread that clones. Lives until the process ends: the thread's end would kill its children.
class Launcher {
 public:
  static Launcher& instance() {
    static Launcher* const launcher = new Launcher;
    return *launcher;
  }

  LaunchResult launch(LaunchPlan& plan) {
    HONE_CHECK(getpid() == owner_, "a forked copy of this process cannot start programs");
    const std::lock_guard one_at_a_time(callers_);
    std::unique_lock lock(mutex_);
    plan_ = &plan;
    changed_.notify_all();
    changed_.wait(lock, [&] { return plan_ == nullptr; });
    return result_;
  }

 private:
  Launcher() : stack_(std::make_unique<Stack>()), owner_(getpid()) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] void serve() {
    pthread_setname_np(pthread_self(), "hone-launch");
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return plan_ != nullptr; });
      result_ = start(*plan_);
      plan_ = nullptr;
      changed_.notify_all();
    }
  }

  LaunchResult start(LaunchPlan& plan) {
    LaunchResult result;
    Launch request{&plan, &result, owner_};
    const int pid = clone(become_program, stack_->top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &request);
    if (pid < 0) {
      result.error = errno;
      result.step = "create a process";
    } else if (result.error != 0) {
      reap(pid);
    } else {
      result.pid = pid;
    }
    return result;
  }

  struct Stack {
    alignas(64) char bytes[kStackBytes];
    char* top() { return bytes + kStackBytes; }
  };

  std::unique_ptr<Stack> stack_;
  const pid_t owner_;
  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  LaunchPlan* plan_ = nullptr;
  LaunchResult result_;
};

}  // namespace

LaunchResult launch(LaunchPlan& plan) { return Launcher::instance().launch(plan); }

}  // namespace hone::base
