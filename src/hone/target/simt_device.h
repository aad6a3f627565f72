// The GPUs that the emulator stands for: their limits, as far as a launch plan or a kernel can tell. Constants;
// thread-safe.
#pragma once
#include <string_view>

#include "hone/kernel/kernel.h"

namespace hone::target {

struct SimtDevice {
  kernel::Language language;
  std::string_view target;       ///< "emulator:cuda"
  std::string_view model;        ///< what its limits are taken from
  int wave;                      ///< threads of a warp or wave
  int sms;                       ///< multiprocessors, compute units
  int64_t shared_max;            ///< bytes a block, static and dynamic together
  int64_t static_max;            ///< bytes of them that may be static
  int64_t shared_per_sm;
  int threads_per_sm, blocks_per_sm;
};

/// Null for a language that is no GPU's.
[[nodiscard]] const SimtDevice* simt_device(kernel::Language language);
/// By "emulator:cuda" or "emulator:hip"; null for any other target.
[[nodiscard]] const SimtDevice* simt_device_of(std::string_view target);

/// SMS, SHARED_MAX, WAVE.
[[nodiscard]] kernel::Limits simt_limits(const SimtDevice& device);

}  // namespace hone::target
