#include <algorithm>

#include "hone/target/gpu/driver.h"

namespace hone::target::gpu {

extern const DriverRow kCudaDriver;

std::span<const DriverRow* const> drivers() {
  static constexpr const DriverRow* kAll[] = {&kCudaDriver};
  return kAll;
}

const DriverRow* find_driver(std::string_view name) {
  const auto it = std::find_if(drivers().begin(), drivers().end(), [&](const DriverRow* row) { return row->name == name; });
  return it == drivers().end() ? nullptr : *it;
}

}  // namespace hone::target::gpu
