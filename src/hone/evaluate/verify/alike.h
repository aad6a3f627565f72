// Inputs much of which looks like something else: rows that repeat the row before but for one element, constant or sorted rows
// with one exception, square matrices that are symmetric but for a few, an input that is another one, or its transpose, but for one
// element. Who looks at some places and guesses the rest guesses wrong. Pure.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hone/base/random.h"
#include "hone/evaluate/parallel.h"
#include "hone/task/task.h"

namespace hone::evaluate {

// A tensor of a gigabyte would take one thread seconds. So lines are taken in runs, each with random numbers of its own: what comes out does
// not depend on the number of threads.

/// body(begin, end, rng) for runs of `count` lines of `length` elements each.
template <class Body>
void for_runs_of_lines(int64_t count, int64_t length, int threads, base::Rng& rng, Body&& body) {
  constexpr int64_t kElements = int64_t{1} << 16;
  const int64_t together = std::max<int64_t>(1, kElements / std::max<int64_t>(1, length));
  const uint64_t seed = rng.next_u64();
  parallel_for((count + together - 1) / together, threads, [&](int64_t run) {
    base::Rng own(seed, static_cast<uint64_t>(run));
    body(run * together, std::min(count, (run + 1) * together), own);
  });
}

/// Rearranges a tensor: each of its elements is one that was there before, or zero where `zeros` allows it.
void make_alike(std::span<std::byte> data, const task::Shape& shape, task::DType type, bool zeros, base::Rng& rng, int threads = 1);

/// Sorts most lines along one axis, either way, but for one element, which stands anywhere.
void sort_but_one(std::span<std::byte> data, const task::Shape& shape, task::DType type, base::Rng& rng, int threads = 1);

/// Which of `n` in a row is the exception: the last, one near it, or any. What is left out of a row lies in its tail.
[[nodiscard]] int64_t exception_of(int64_t n, base::Rng& rng);

/// One element in thirty or so becomes another one of them.
void displace_some(std::span<std::byte> data, task::DType type, base::Rng& rng);

/// Floats are halved; of other types nothing is changed.
void halve(std::span<std::byte> data, task::DType type, int threads = 1);

/// Copies a tensor, or its transpose where the shapes say so, over another one of the same type but for one element; where one's shape is
/// the end of the other's, a row of it, or over each of its rows, but for one element of each, as in half of the copies of one shape. False where the shapes are of no such kind.
bool copy_but_one(std::span<std::byte> to, const task::Shape& to_shape, std::span<const std::byte> from, const task::Shape& from_shape, task::DType type,
                  base::Rng& rng, int threads = 1);

}  // namespace hone::evaluate
