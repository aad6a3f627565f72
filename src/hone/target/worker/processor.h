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
inline constexpr uint16_t kDefaultControl = 0x37F;
/// The environment of the x87's stack of registers, as fnstenv and fldenv have it.
struct Stack {
  uint16_t control = 0, a = 0, status = 0, b = 0, tags = 0, c = 0, rest[8] = {};
};

inline bool has_segment_instructions() {
  constexpr unsigned long kFsGsBase = 2;
  static const bool has = (getauxval(AT_HWCAP2) & kFsGsBase) != 0;
  return has;
}

/// An image of a thread's registers that says of each file that it is as at the beginning. Processors may read all that the files would
/// take of it (AMX's tiles: 11,008 bytes), whatever it says.
struct alignas(64) Image {
  uint64_t legacy[3] = {kDefaultControl, 0, 0};
  uint32_t mxcsr = kDefaultMxcsr, rest[(16384 - 28) / 4] = {};
};

/// Vector, mask and tile registers, as the system keeps them for a thread, as far as an Image holds them; not the protection keys.
inline uint64_t register_files() {
  static const uint64_t files = [] {
    constexpr unsigned kStates = 0xD, kProtectionKeys = 9;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (1U << 27)) == 0) return uint64_t{0};
    uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    uint64_t all = (uint64_t{high} << 32 | low) & ~(uint64_t{1} << kProtectionKeys);
    for (unsigned file = 2; file < 63; ++file)
      if ((all >> file & 1) != 0 && (!__get_cpuid_count(kStates, file, &a, &b, &c, &d) || b + a > sizeof(Image))) all &= ~(uint64_t{1} << file);
    return all;
  }();
  return files;
}

/// How the calling thread was left. Its direction is mended first: no string instruction works before.
[[gnu::noinline]] inline Left left_by_calls() {
  constexpr uint64_t kDirectionFlag = 1 << 10;
  constexpr uint32_t kModes = 0xFFC0;  // rounding, masks, denormals
  const bool backwards = (__builtin_ia32_readeflags_u64() & kDirectionFlag) != 0;
  __asm__ volatile("cld" : : : "cc");
  if (backwards) return Left::kDirection;
  uint32_t modes = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(modes));
  Stack stack;
  __asm__ volatile("fnstenv %0" : "=m"(stack));
  if ((modes & kModes) != (kDefaultMxcsr & kModes) || stack.control != kDefaultControl) return Left::kRounding;
  if (stack.tags != 0xFFFF) return Left::kStack;
  uint64_t base = 0;
  if (has_segment_instructions()) __asm__ volatile("rdgsbase %0" : "=r"(base));
  return base == 0 ? Left::kNothing : Left::kSegment;
}

/// Makes the calling thread's registers what they are when a thread begins. The flags of what floats have met, which nobody clears for
/// a call, are some of `secret`'s bits: who goes by them cannot foresee them.
[[gnu::noinline]] inline void clear_registers(uint64_t secret) {
  constexpr uint64_t kFlags = 0x3F;
  static const Image kImage;
  if (has_segment_instructions()) __asm__ volatile("wrgsbase %0" : : "r"(uint64_t{0}));
  if (const uint64_t files = register_files(); files != 0)
    __asm__ volatile("xrstor64 %0" : : "m"(kImage), "a"(static_cast<uint32_t>(files)), "d"(static_cast<uint32_t>(files >> 32)) : "memory");
  const uint32_t modes = kDefaultMxcsr | static_cast<uint32_t>(secret & kFlags);
  const Stack stack{.control = kDefaultControl, .status = static_cast<uint16_t>(secret >> 8 & kFlags), .tags = 0xFFFF};
  __asm__ volatile("fldenv %0\n\tldmxcsr %1" : : "m"(stack), "m"(modes));
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
