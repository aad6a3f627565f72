// Which segments of its inputs a look at some boxes of an output reads, and what of them is drawn already. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hone/evaluate/oracle/reduction_helper.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Sorts segments and joins those that overlap or lie no more than `near` elements apart.
void merge(std::vector<Segment>& segments, int64_t near = 0);
/// What of `wanted` is not in `there`; both are merged.
[[nodiscard]] std::vector<Segment> without(const std::vector<Segment>& wanted, const std::vector<Segment>& there);

/// Adds to `segments`, one list for each input in declared order, what answers over these boxes of an output read, and
/// the same places of inputs that have as many elements as the output. The lists are merged afterwards, with those
/// near each other joined: no more is drawn for it. Given what a helper covers, of that only what it is given and its spots.
void add_what_is_read(const task::ConcreteGraph& graph, int output, std::span<const Box> boxes, std::vector<std::vector<Segment>>& segments,
                      const Coverage& coverage = {});

}  // namespace hone::evaluate
