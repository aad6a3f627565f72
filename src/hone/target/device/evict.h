// Cold caches: takes given bytes out of every cache of the machine. Thread-safe; cannot fail.
#pragma once
#include <cstddef>

namespace hone::target {

/// Writes back and drops the cache lines of [at, at + bytes) at every level, for every process that
/// maps the same memory. One pass over those lines where the CPU has the instruction (x86: CLFLUSHOPT);
/// false where it has none, with nothing done.
[[nodiscard]] bool evict(const std::byte* at, size_t bytes);

}  // namespace hone::target
