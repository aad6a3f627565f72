// One small use of every op: what `hone ops NAME` and docs/language.md show, and what op_facts.h
// tries on every element type to learn which ones an op takes. Data; immutable.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/graph/op_table.h"

namespace hone::task {

struct OpExample {
  std::vector<std::string> inputs;  ///< "x: f32[B, D]"
  std::string call;                 ///< "softmax(x, axis=-1)"
};

/// Ops of one or two tensors and nothing else that must be given need no row of the table: theirs is
/// name(x) or name(x, y) of matrices. A missing row stops the program.
[[nodiscard]] OpExample example_of(const Op& op);

}  // namespace hone::task
