// Plain kernels for devices of many threads: every graph of the task language, from the same loops as on a CPU (plain.h).
// What a run on a GPU begins with where nothing better is known. Pure; cannot fail.
#pragma once
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// `language`: kCuda or kHip.
[[nodiscard]] kernel::Kernel plain_gpu(const task::Task& task, kernel::Language language);

}  // namespace hone::pattern
