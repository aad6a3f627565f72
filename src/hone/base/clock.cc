#include "hone/base/clock.h"

#include <ctime>

namespace hone::base {
namespace {

int64_t read_ns(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  int64_t now_ns() override { return read_ns(CLOCK_MONOTONIC); }
  int64_t unix_ms() override { return read_ns(CLOCK_REALTIME) / 1'000'000; }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace hone::base
