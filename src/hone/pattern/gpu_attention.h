// Attention on NVIDIA's tensor cores: patterns/gpu/attention.cu filled for an Attention. Pure.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/pattern/library.h"

namespace hone::pattern {

/// Offers for a task that is one attention over queries, keys and values of one 16-bit type, with outputs of 16 bits; empty for any
/// other, with why. With few queries a head the keys are split between blocks. `language`: kCuda (HIP has no form of it yet: empty).
[[nodiscard]] std::vector<Offer> gpu_attention_offers(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not);

}  // namespace hone::pattern
