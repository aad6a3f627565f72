// Offers for a graph that takes several kernels: its parts (partition.h), each by a pattern, as one kernel (compose.h).
// One way of going about it for every language. Pure.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hone/pattern/library.h"
#include "hone/pattern/partition.h"

namespace hone::pattern {

/// What differs from language to language.
struct PartWriter {
  Covered covered = nullptr;                                        ///< some pattern of the language writes the task
  std::function<std::vector<Offer>(const task::Task& part)> offers; ///< by single patterns, most promising first
  std::function<Offer(const task::Task& part)> plain;               ///< where there are none; null: then it takes none
};

/// Each part by the first pattern that covers it, or by plain loops (nothing is offered where a language has none); then, for each part that has a choice, the same
/// with its next pattern. Empty for a graph of one part, and where no pattern covers any: plain loops throughout are
/// offered as such.
[[nodiscard]] std::vector<Offer> offers_in_parts(const task::Task& task, const PartWriter& writer);
/// Likewise of a partition that is made; empty for one part.
[[nodiscard]] std::vector<Offer> offers_of_parts(const Partition& parts, const PartWriter& writer);

}  // namespace hone::pattern
