#include "hone/target/simt_device.h"

namespace hone::target {
namespace {

// An H200 as CUDA's device properties give it; an MI300X as the CDNA 3 guide does.
constexpr SimtDevice kDevices[] = {
    {kernel::Language::kCuda, "emulator:cuda", "an NVIDIA H200", 32, 132, 232448, 49152, 233472, 2048, 32},
    {kernel::Language::kHip, "emulator:hip", "an AMD MI300X", 64, 304, 65536, 65536, 65536, 2048, 32},
    {kernel::Language::kTileLang, "emulator:cuda", "an NVIDIA H200", 32, 132, 232448, 49152, 233472, 2048, 32},
    {kernel::Language::kTriton, "emulator:triton", "an NVIDIA H200", 32, 132, 232448, 49152, 233472, 2048, 32},
};

}  // namespace

const SimtDevice* simt_device(kernel::Language language) {
  for (const SimtDevice& device : kDevices)
    if (device.language == language) return &device;
  return nullptr;
}

const SimtDevice* simt_device_of(std::string_view target) {
  for (const SimtDevice& device : kDevices)
    if (device.target == target) return &device;
  return nullptr;
}

kernel::Limits simt_limits(const SimtDevice& device) {
  return {{"SMS", device.sms}, {"SHARED_MAX", device.shared_max}, {"WAVE", device.wave}};
}

}  // namespace hone::target
