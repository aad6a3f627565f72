// How many blocks a launch may have on a card.
#pragma once
#include <cstdint>

namespace hone::kernel {

/// Along x, y and z, on any card of either vendor.
inline constexpr int64_t kMostGrid[] = {INT32_MAX, 65535, 65535};

}  // namespace hone::kernel
