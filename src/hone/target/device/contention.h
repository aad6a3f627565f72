// What took the CPU away from a measured process. Read from /proc before and after; 0 where the
// kernel does not say. Thread-safe.
#pragma once
#include <cstdint>

namespace hone::target {

/// Nanoseconds that the process's threads have waited for a CPU while runnable, so far.
[[nodiscard]] int64_t run_delay_ns(int pid);
/// Time the hypervisor has taken from us, all CPUs together (ticks of 10 ms: only gross theft shows).
[[nodiscard]] int64_t stolen_ns();

}  // namespace hone::target
