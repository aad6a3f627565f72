// What a call may leave in a processor: its modes, which the calling convention has everybody hand back as they were, and
// registers that nobody else looks at, in which a kernel could keep what it knows. For the runner: modes are looked at, registers cleared.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/auxv.h>
#endif

namespace hone::target::worker {

/// What a thread was left with, or kGlobals: the library itself.
enum class Left : uint32_t { kNothing, kRounding, kStack, kDirection, kSegment, kGlobals };

#if defined(__x86_64__)

inline constexpr uint32_t kDefaultMxcsr = 0x1F80;

inline bool has_segment_instructions() {
  constexpr unsigned long kFsGsBase = 2;
  static const bool has = (getauxval(AT_HWCAP2) & kFsGsBase) != 0;
  return has;
}

/// Vector, mask and tile registers, as the system keeps them for a thread; not the protection keys.
inline uint64_t register_files() {
  static const uint64_t files = [] {
    constexpr uint64_t kProtectionKeys = 1 << 9;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (1U << 27)) == 0) return uint64_t{0};
    uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t{high} << 32 | low) & ~kProtectionKeys;
  }();
  return files;
}

/// How the calling thread was left. Its direction is mended first: no string instruction works before.
[[gnu::noinline]] inline Left left_by_calls() {
  constexpr uint64_t kDirectionFlag = 1 << 10;
  constexpr uint32_t kModes = 0xFFC0;  // rounding, masks, denormals
  constexpr uint16_t kControl = 0x37F;
  const bool backwards = (__builtin_ia32_readeflags_u64() & kDirectionFlag) != 0;
  __asm__ volatile("cld" : : : "cc");
  if (backwards) return Left::kDirection;
  uint32_t modes = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(modes));
  struct {
    uint16_t control, a, status, b, tags, c, rest[8];
  } stack{};
  __asm__ volatile("fnstenv %0" : "=m"(stack));
  if ((modes & kModes) != (kDefaultMxcsr & kModes) || stack.control != kControl) return Left::kRounding;
  if (stack.tags != 0xFFFF) return Left::kStack;
  uint64_t base = 0;
  if (has_segment_instructions()) __asm__ volatile("rdgsbase %0" : "=r"(base));
  return base == 0 ? Left::kNothing : Left::kSegment;
}

/// Makes the calling thread's registers what they are when a thread begins. The flags of what floats have met, which nobody clears for
/// a call, are some of `secret`'s bits: who goes by them cannot foresee them.
[[gnu::noinline]] inline void clear_registers(uint64_t secret) {
  constexpr uint32_t kFlags = 0x3F;
  if (has_segment_instructions()) __asm__ volatile("wrgsbase %0" : : "r"(uint64_t{0}));
  const uint64_t files = register_files();
  if (files == 0) {
    const uint32_t modes = kDefaultMxcsr | (static_cast<uint32_t>(secret) & kFlags);
    __asm__ volatile("fninit\n\tldmxcsr %0" : : "m"(modes));
    return;
  }
  // An image that says of each file that it is as at the beginning.
  struct Image {
    uint64_t legacy[3] = {0x37F, 0, 0};
    uint32_t mxcsr = kDefaultMxcsr, rest[1017] = {};
  };
  alignas(64) Image image;
  image.legacy[0] |= (secret >> 8 & kFlags) << 16;
  image.mxcsr |= static_cast<uint32_t>(secret) & kFlags;
  __asm__ volatile("xrstor64 %0" : : "m"(image), "a"(static_cast<uint32_t>(files)), "d"(static_cast<uint32_t>(files >> 32)) : "memory");
}

#else

[[gnu::noinline]] inline Left left_by_calls() {
#if defined(__aarch64__)
  uint64_t modes = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
  if (modes != 0) return Left::kRounding;
#endif
  return Left::kNothing;
}
inline void clear_registers(uint64_t) {
#if defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
#endif
}

#endif

}  // namespace hone::target::worker
