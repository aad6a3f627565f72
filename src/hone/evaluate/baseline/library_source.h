// A task as a call into a library: C++ source with the table of entries that runners expect, whose one
// entry takes the task's inputs and outputs in order. When it is loaded it makes the call once on zeros, so
// that threads, buffers and generated code are there before anything is timed. Pure.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// One gemm or gemv, in a loop over batch axes; f32 or f64. kUnavailable where the task is something else.
[[nodiscard]] Result<std::string> openblas_source(const task::Task& task, const task::Bindings& bindings);

/// One primitive: matmul (f32, bf16, i8), convolution, pooling, softmax, layer norm or an activation.
/// kUnavailable where the task is something else.
[[nodiscard]] Result<std::string> onednn_source(const task::Task& task, const task::Bindings& bindings);

/// Around `call`, a function `void call(void* const* t)`: the entry, the first call on zeros. `bytes` of each
/// input and output.
[[nodiscard]] std::string library_frame(const std::string& before, const task::Task& task, const task::ConcreteGraph& graph);

}  // namespace hone::evaluate
