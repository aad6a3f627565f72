// What the pretend card can run: functions on the host, chosen by what a kernel's name contains. Those of tests take
// (const float* x, float* y, int64_t n) and are to compute y = -x.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "pretend_memory.h"

namespace hone::pretend {

inline constexpr Result kAssert = 710;

struct Kernel {
  std::string_view name;                 ///< a part of the function's name
  size_t arguments;                      ///< slots of eight bytes
  Result (*run)(const Memory& memory, std::span<const uint64_t> arguments);
};

/// Null: the card does not know what to do for a function of that name.
[[nodiscard]] const Kernel* find_kernel(std::string_view function);

/// Functions that end the process, as a crash of the driver would: when they are looked up, when their module goes.
[[nodiscard]] bool dies_when_found(std::string_view function);
[[nodiscard]] bool dies_when_unloaded(std::string_view function);

}  // namespace hone::pretend
