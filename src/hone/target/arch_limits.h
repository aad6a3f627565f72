// Real GPUs as far as a build without one can tell: limits by architecture, and how many blocks fit a multiprocessor.
// Modelled from the vendors' published limits, nothing here is measured. Constants and arithmetic; thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hone/kernel/kernel.h"

namespace hone::target {

struct ArchLimits {
  std::string_view arch;         ///< "sm_90": without the letters a and f
  std::string_view model;        ///< the card whose multiprocessors are counted: "an H200"
  int wave;                      ///< threads of a warp or wave
  int sms;                       ///< multiprocessors, compute units
  int threads_per_sm, blocks_per_sm;
  int64_t registers;             ///< NVIDIA: of a multiprocessor; AMD: of a lane, over all waves of a SIMD
  int64_t shared_per_sm;         ///< bytes
  int64_t shared_max;            ///< bytes a block
  int64_t shared_reserved;       ///< bytes a block that the system takes
  [[nodiscard]] bool amd() const { return wave == 64; }
};

/// Null for an architecture whose limits are not known here. NVIDIA's: CUDA C++ programming guide, "Compute capabilities";
/// AMD's: CDNA 2, 3 and 4 instruction set guides, LLVM's guide to the AMDGPU target.
[[nodiscard]] const ArchLimits* arch_limits(std::string_view arch);

/// SMS, SHARED_MAX, WAVE.
[[nodiscard]] kernel::Limits plan_limits(const ArchLimits& card);

struct Occupancy {
  int64_t blocks = 0;            ///< at once on a multiprocessor; 0: a block does not fit
  int64_t waves = 0, most_waves = 0;
  std::string limited_by;        ///< "registers", "shared memory", "threads", "blocks"
  [[nodiscard]] double share() const { return most_waves ? static_cast<double>(waves) / static_cast<double>(most_waves) : 0; }
};

/// Of blocks of `threads` threads with `registers` each and `shared` bytes, static and dynamic.
[[nodiscard]] Occupancy occupancy(const ArchLimits& card, int64_t threads, int64_t registers, int64_t shared);

}  // namespace hone::target
