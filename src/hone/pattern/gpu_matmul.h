// Matrix products on GPUs: patterns/gpu/matmul.cu filled for a contraction, in fp32 on any GPU and on NVIDIA's matrix
// units, with the depth split between blocks or not; and a kernel for products of few columns or rows. Pure.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/pattern/library.h"

namespace hone::pattern {

/// Offers for a task that is one product of two inputs in f32, bf16 or f16, summed in f32, and element-wise work on its
/// result; most promising first for the task's workloads. Empty for any other task. `language`: kCuda or kHip.
[[nodiscard]] std::vector<Offer> gpu_matmul_offers(const task::Task& task, kernel::Language language);

/// The same for a product with a factor that is computed from fewer bytes than it has (operand.h), the other one being of 16 bits with lines
/// that are few beside it. None for HIP, which has no such kernel. `why_not`: a line if there are none.
[[nodiscard]] std::vector<Offer> gpu_computed_offers(const task::Task& task, kernel::Language language,
                                                     std::vector<std::string>& why_not);

}  // namespace hone::pattern
