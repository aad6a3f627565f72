// Inputs much of which looks like something else of them: rows that repeat the row before but for one element, constant rows
// with one exception, square matrices that are symmetric but for a few. Who looks at some places and guesses the rest guesses wrong. Pure.
#pragma once
#include <cstddef>
#include <span>

#include "hone/base/random.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Rearranges a tensor of elements of so many bytes: each of its elements is one that was there before, or zero where `zeros` allows it.
void make_alike(std::span<std::byte> data, const task::Shape& shape, int64_t element, bool zeros, base::Rng& rng);

}  // namespace hone::evaluate
