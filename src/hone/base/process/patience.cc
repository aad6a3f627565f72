#include "hone/base/process/patience.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "hone/base/clock.h"
#include "hone/base/result.h"

namespace hone::base {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kRepeatNs = kSecond / 10;

int interrupting_signal() {
  static const int signal = [] {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART: it exists to interrupt
    sigaction(SIGRTMAX - 1, &action, nullptr);
    return SIGRTMAX - 1;
  }();
  return signal;
}

/// A timer that signals the thread that made it.
class ThreadTimer {
 public:
  ThreadTimer() {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, interrupting_signal());
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = interrupting_signal();
    event._sigev_un._tid = gettid();
    HONE_CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0, "no timer for this thread");
  }
  ~ThreadTimer() { timer_delete(timer_); }
  void set(int64_t first_ns, int64_t repeat_ns) {
    const itimerspec times{{repeat_ns / kSecond, repeat_ns % kSecond},
                           {first_ns / kSecond, first_ns % kSecond}};
    timer_settime(timer_, 0, &times, nullptr);
  }

 private:
  timer_t timer_{};
};

ThreadTimer& thread_timer() {
  thread_local ThreadTimer timer;
  return timer;
}

}  // namespace

Patience::Patience(int64_t ns) : end_ns_(system_clock().now_ns() + ns) {
  thread_timer().set(ns, kRepeatNs);
}
Patience::~Patience() { thread_timer().set(0, 0); }
bool Patience::is_over() const { return system_clock().now_ns() >= end_ns_; }

}  // namespace hone::base
