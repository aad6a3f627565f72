// A task as PyTorch code for any of its shapes: what an exported kernel falls back to. The opponents' emitter
// (evaluate/baseline/pytorch.h) writes it for one shape at a time; here it writes for several shapes that have
// nothing in common, and each number that differs between them becomes the expression that gives it in all. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::face {

struct Composition {
  std::vector<std::string> parameters;  ///< Python names of the inputs, then of the extents (task.symbols())
  std::string body;                     ///< statements of the function, indented by four
  bool makes_tensors = false;           ///< of its own, which belong on the inputs' device
};

/// kUnavailable where an operation has no PyTorch form, or where a number of the code depends on the shape in a
/// way that is not found; the message says which.
[[nodiscard]] Result<Composition> compose_pytorch(const task::Task& task);

}  // namespace hone::face
