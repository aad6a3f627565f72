#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/process/child_state.h"
#include "hone/base/process/patience.h"

namespace hone::base {
namespace {

constexpr int64_t kStopPatienceNs = 1'000'000'000;
/// When so much has passed at most, it is looked up how long a program has waited for a processor so far: who is done sooner pays nothing.
constexpr int64_t kLooksAfterNs = 1'000'000'000;
constexpr int64_t kMostQueued = 10;

/// waitid for one child, with its use of resources; false when there is nothing to report.
bool wait_for(int pid, siginfo_t& info, int options, rusage* usage = nullptr) {
  info.si_pid = 0;
  return ::syscall(SYS_waitid, P_PID, pid, &info, options | __WALL, usage) == 0 && info.si_pid != 0;
}

/// Reaps it, whatever signals arrive meanwhile.
bool wait_for_end(int pid, siginfo_t& info, rusage* usage = nullptr) {
  while (!wait_for(pid, info, WEXITED, usage))
    if (errno != EINTR) return false;
  return true;
}

int64_t nanoseconds(const timeval& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL;
}

/// Of a program and those it started, the waits of each one's thread that waited longest, added up.
int64_t queued_in_tree(int pid) {
  int64_t longest = 0, of_children = 0;
  std::error_code gone;  // it may end meanwhile
  for (std::filesystem::directory_iterator it(fmt::format("/proc/{}/task", pid), gone), end; !gone && it != end; it.increment(gone)) {
    // Nanoseconds on a processor, nanoseconds waiting for one, turns (Documentation/scheduler/sched-stats.rst).
    std::ifstream file(it->path() / "schedstat"), children(it->path() / "children");
    int64_t ran = 0, waited = 0;
    if (file >> ran >> waited) longest = std::max(longest, waited);
    for (int child = 0; children >> child;) of_children += queued_in_tree(child);
  }
  return longest + of_children;
}

}  // namespace

void Capture::read(size_t limit) {
  char chunk[16384];
  for (int i = 0; i < 64 && pipe; ++i) {
    const ssize_t n = ::read(pipe.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      pipe = Fd();
      return;
    }
    const size_t kept = std::min(static_cast<size_t>(n), limit - text.size());
    text.append(chunk, kept);
    truncated |= kept < static_cast<size_t>(n);
  }
}

void Child::State::kill() const {
  if (init_pid > 0) ::kill(init_pid, SIGKILL);
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
}

void Child::State::read_output() {
  out.read(output_limit);
  err.read(output_limit);
}

void Child::State::finish() {
  // Before reaping, while the number of the group cannot belong to anyone else.
  kill();
  Exit ended;
  siginfo_t info{};
  rusage usage{};
  if (wait_for_end(pid, info, &usage)) {
    ended.how = info.si_code == CLD_EXITED ? Exit::How::kExited : Exit::How::kSignalled;
    ended.status = info.si_status;
  } else {
    ended.how = Exit::How::kSignalled;  // someone ignores SIGCHLD or reaped it behind our back
    ended.status = SIGKILL;
  }
  // An init ends only after everyone in its namespace was reaped, so it comes second.
  if (init_pid > 0) (void)wait_for_end(init_pid, info);
  ended.wall_ns = system_clock().now_ns() - start_ns;
  ended.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  ended.max_rss_bytes = usage.ru_maxrss * 1024;
  read_output();
  ended.out = std::move(out.text);
  ended.err = std::move(err.text);
  ended.truncated = out.truncated || err.truncated;
  exit = std::move(ended);
}

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&&) noexcept = default;

Child& Child::operator=(Child&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Child::~Child() {
  if (!state_ || state_->exit) return;
  state_->kill();
  state_->finish();
}

int Child::pid() const { return state_->pid; }
int Child::pidfd() const { return state_->pidfd.get(); }

int64_t Child::queued_ns() const { return queued_in_tree(state_->pid); }

Lateness::Lateness(const Child& child, std::chrono::nanoseconds deadline)
    : child_(child), deadline_(deadline.count()), begin_(system_clock().now_ns()), allowed_(deadline_) {}

int64_t Lateness::left() {
  const int64_t passed = system_clock().now_ns() - begin_;
  if (queued_before_ < 0 && passed >= std::min(deadline_ / 4, kLooksAfterNs)) queued_before_ = child_.queued_ns();
  if (passed >= allowed_)
    allowed_ = std::min(deadline_ + child_.queued_ns() - queued_before_, kMostQueued * deadline_);
  return std::max<int64_t>(0, allowed_ - passed);
}

Exit Child::wait(std::chrono::nanoseconds deadline) {
  State& state = *state_;
  if (state.exit) return *state.exit;
  Lateness lateness(*this, deadline);
  bool late = false;
  for (;;) {
    pollfd watched[3] = {{state.pidfd.get(), POLLIN, 0},
                         {state.out.pipe.get(), POLLIN, 0},
                         {state.err.pipe.get(), POLLIN, 0}};
    const int64_t left = std::min({lateness.left(), kLooksAfterNs, std::max<int64_t>(deadline.count() / 4, 1)});
    if (left == 0 && !late) {
      late = true;
      state.kill();
    }
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    ::ppoll(watched, 3, late ? nullptr : &timeout, nullptr);
    if (watched[0].revents != 0) break;
    state.read_output();
  }
  state.finish();
  if (late) {
    state.exit->how = Exit::How::kDeadline;
    state.exit->status = SIGKILL;
    state.exit->deadline_ns = deadline.count();
  }
  return *state.exit;
}

void Child::kill() {
  if (!state_->exit) state_->kill();
}

bool Child::freeze() {
  if (state_->exit || ::kill(state_->pid, SIGSTOP) != 0) return false;
  // The kernel reports the stop when the last thread has stopped, which never happens while one is
  // inside an uninterruptible call.
  const Patience patience(kStopPatienceNs);
  siginfo_t info{};
  while (!wait_for(state_->pid, info, WSTOPPED | WEXITED | WNOWAIT)) {
    if (errno != EINTR) return false;
    if (patience.is_over()) {
      state_->kill();
      return false;
    }
  }
  return info.si_code == CLD_STOPPED && wait_for(state_->pid, info, WSTOPPED | WNOHANG);
}

bool Child::thaw() {
  if (state_->exit) return false;
  siginfo_t info{};
  const auto changed = [&] {
    return wait_for(state_->pid, info, WCONTINUED | WEXITED | WNOHANG | WNOWAIT);
  };
  if (changed() || ::kill(state_->pid, SIGCONT) != 0) return false;
  // What continues is marked so before kill() returns; what was not stopped never is.
  return changed() && info.si_code == CLD_CONTINUED &&
         wait_for(state_->pid, info, WCONTINUED | WNOHANG);
}

}  // namespace hone::base
