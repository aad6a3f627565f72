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
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>

#include "hone/base/process/jail_plan.h"
#include "hone/base/result.h"

namespace hone::base {
namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr int kFirstFreeDescriptor = 3;

/// A child needs a stack that its suspended parent does not use.
struct Stack {
  alignas(64) char bytes[kStackBytes];
  char* top() { return bytes + kStackBytes; }
};

/// What the cloned children see of us.
struct Launch {
  LaunchPlan* plan;
  LaunchResult* result;
  int parent;
  Stack* inner;  ///< for the children of the process that builds the jail
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

/// What the terminal sent before this process left its session was meant for the program that starts it: pending, it would
/// end a runner as soon as signals are let through. Ignoring a signal forgets it.
HONE_AFTER_CLONE void forget_the_terminal() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGINT, SIGQUIT, SIGTSTP, SIGHUP}) sigaction(signal, &action, nullptr);
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

/// Comes back where it cannot. A program just written may still be open for writing in a process that another thread
/// was starting meanwhile, which lets go of it when it becomes its program: that takes milliseconds.
HONE_AFTER_CLONE void execute(const LaunchPlan& plan) {
  for (int tries = 0; tries < 400; ++tries) {
    execve(plan.program, plan.arguments, plan.environment);
    if (errno != ETXTBSY) return;
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}

HONE_AFTER_CLONE int become_program(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  LaunchPlan& plan = *launch.plan;
  setsid();
  forget_the_terminal();
  default_signals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // From inside a pid namespace we cannot be seen; its init has looked after that.
  const bool namespaces = plan.jail && plan.jail->namespaces;
  if (!namespaces && getppid() != launch.parent) _exit(127);
  if (plan.pinned && sched_setaffinity(0, sizeof plan.affinity, &plan.affinity) != 0)
    give_up(launch, "pin it to its CPU");
  if (!place_descriptors(plan)) give_up(launch, "hand over its descriptors");
  if (plan.directory && chdir(plan.directory) != 0) give_up(launch, "enter its folder");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.jail)
    if (const char* step = confine(*plan.jail)) give_up(launch, step);
  if (!plan.program) _exit(0);
  execute(plan);
  give_up(launch, "execute it");
}

HONE_AFTER_CLONE int become_init(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  give_up(launch, become_init(*launch.plan->jail));
}

/// Prepares the namespaces, then starts their init and the program, both as our own children, so
/// that the program's end is reported to us and it is an ordinary process inside (a namespace's
/// init ignores the signals that it sends itself).
HONE_AFTER_CLONE int build_jail(void* argument) {
  Launch& launch = *static_cast<Launch*>(argument);
  LaunchResult& result = *launch.result;
  constexpr int kSibling = CLONE_VM | CLONE_VFORK | CLONE_PARENT;
  if (const char* step = build_root(*launch.plan->jail)) give_up(launch, step);
  result.init_pid = clone(become_init, launch.inner->top(), kSibling, argument);
  if (result.init_pid < 0) give_up(launch, "create an init");
  if (result.error != 0) _exit(127);
  // From here on the init dies with us; had we died before it asked for that, it would not.
  if (getppid() != launch.parent) {
    kill(result.init_pid, SIGKILL);
    _exit(127);
  }
  if (const char* step = move_in(*launch.plan->jail)) give_up(launch, step);
  result.pid = clone(become_program, launch.inner->top(), kSibling, argument);
  if (result.pid < 0) give_up(launch, "create a process");
  _exit(0);
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
  Launcher()
      : outer_(std::make_unique<Stack>()), inner_(std::make_unique<Stack>()), owner_(getpid()) {
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
    Launch request{&plan, &result, owner_, inner_.get()};
    constexpr int kShared = CLONE_VM | CLONE_VFORK | SIGCHLD;
    if (plan.jail && plan.jail->namespaces) {
      const int flags = kShared | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
                        (plan.jail->network ? 0 : CLONE_NEWNET);
      const int builder = clone(build_jail, outer_->top(), flags, &request);
      if (builder < 0) {
        result.error = errno;
        result.step = "create namespaces";
      } else {
        reap(builder);
      }
    } else {
      result.pid = clone(become_program, outer_->top(), kShared, &request);
      if (result.pid < 0) {
        result.error = errno;
        result.step = "create a process";
      }
    }
    if (result.error != 0 || result.pid < 0) {
      // An init ends only after everyone in its namespace was reaped.
      if (result.init_pid > 0) kill(result.init_pid, SIGKILL);
      if (result.pid > 0) reap(result.pid);
      if (result.init_pid > 0) reap(result.init_pid);
      result.pid = result.init_pid = -1;
    }
    return result;
  }

  std::unique_ptr<Stack> outer_, inner_;
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
