// The stream twin of a task: a kernel that reads every input byte once and writes every output byte
// once, and computes nothing. Its time, taken in the same session on the same buffers, is the memory
// side of the speed of light: no kernel for the task can move less.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::evaluate {

/// In C++ for CPUs; tunables choose block size and store kind, the caller keeps the fastest.
[[nodiscard]] kernel::Kernel stream_twin(const task::Task& task);
/// For cards; tunables choose the block, its share of 16-byte words a thread, and blocks a multiprocessor.
[[nodiscard]] kernel::Kernel stream_twin_cuda(const task::Task& task);
/// Its configurations of which the fastest is kept.
[[nodiscard]] std::vector<kernel::Kernel> stream_twins_cuda(const task::Task& task);

}  // namespace hone::evaluate
