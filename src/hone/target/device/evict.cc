#include "hone/target/device/evict.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hone::target {

#if defined(__x86_64__)
namespace {

constexpr size_t kLine = 64;

bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

__attribute__((target("clflushopt"))) void drop_lines(const std::byte* at, const std::byte* end) {
  for (; at < end; at += kLine) _mm_clflushopt(const_cast<std::byte*>(at));
  _mm_mfence();  // the flushes are ordered by fences only
}

}  // namespace

bool evict(const std::byte* at, size_t bytes) {
  static const bool can = has_clflushopt();
  if (!can) return false;
  const size_t before = reinterpret_cast<uintptr_t>(at) % kLine;
  drop_lines(at - before, at + bytes);
  return true;
}
#else
bool evict(const std::byte*, size_t) { return false; }
#endif

}  // namespace hone::target
