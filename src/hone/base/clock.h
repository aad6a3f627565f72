// Time, behind an interface so that tests own it. SystemClock is thread-safe.
#pragma once
#include <atomic>
#include <cstdint>

namespace hone::base {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic nanoseconds; only differences mean anything.
  [[nodiscard]] virtual int64_t now_ns() = 0;
  /// Milliseconds since the Unix epoch, for records that people read.
  [[nodiscard]] virtual int64_t unix_ms() = 0;
};

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
[[nodiscard]] Clock& system_clock();

/// A clock that moves only when told to.
class FakeClock final : public Clock {
 public:
  int64_t now_ns() override { return now_; }
  int64_t unix_ms() override { return 1'700'000'000'000 + now_ / 1'000'000; }
  void advance_ns(int64_t ns) { now_ += ns; }

 private:
  std::atomic<int64_t> now_ = 0;
};

}  // namespace hone::base
