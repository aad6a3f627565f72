// What a driver says of a card. No dependencies, as driver.h.
#pragma once
#include <cstdint>
#include <string>

namespace hone::target {

struct CardInfo {
  std::string driver;               ///< its row's name: "cuda" (gpu/driver.h)
  std::string driver_version;       ///< "13.0"
  int ordinal = 0;
  std::string name;                 ///< "NVIDIA H200"
  int major = 0, minor = 0;         ///< compute capability
  std::string arch;                 ///< what kernels are built for: "sm_90a"
  int sms = 0, wave = 32;
  int threads_per_sm = 0, threads_per_block = 0;
  int64_t shared_max = 0;           ///< bytes a block, opted in
  int64_t shared_per_sm = 0;
  int64_t l2_bytes = 0, memory_bytes = 0;
  int clock_khz = 0;                ///< highest of the multiprocessors
  int memory_clock_khz = 0, memory_bus_bits = 0;

  [[nodiscard]] std::string target() const { return driver + ":" + std::to_string(ordinal); }  ///< "cuda:0"
};

}  // namespace hone::target
