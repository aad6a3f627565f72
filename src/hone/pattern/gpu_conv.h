// Convolutions on GPUs: patterns/gpu/conv*.cu filled for a task. Pure.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/pattern/library.h"

namespace hone::pattern {

/// Offers for a task that is one convolution or transposed convolution, in one to three dimensions of space, of inputs in
/// f32, bf16 or f16, summed in f32, and element-wise work on its result; most promising first for the task's workloads.
/// Empty for any other task. `language`: kCuda or kHip.
[[nodiscard]] std::vector<Offer> gpu_conv_offers(const task::Task& task, kernel::Language language);

}  // namespace hone::pattern
