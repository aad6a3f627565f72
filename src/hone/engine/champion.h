// What a champion's file says of where it holds, and what to make of that on another machine. Such a note
// is for people: no verdict is ever taken from it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/target/target.h"
#include "hone/task/task.h"

namespace hone::engine {

using target::Place;

/// "2026-11-22", UTC.
[[nodiscard]] std::string day_of(int64_t unix_ms);

/// The whole file: the kernel with its configuration, and the note that `task`'s workloads were accepted at `place`.
[[nodiscard]] std::string champion_text(const kernel::Kernel& kernel, const task::Task& task, const Place& place,
                                        const std::string& day);

/// What a kernel's note says that is not so here, a clause each ("device: X, here Y"); empty where all holds,
/// or where there is no note.
[[nodiscard]] std::vector<std::string> not_as_verified(const kernel::Kernel& kernel, const task::Task& task, const Place& here);

}  // namespace hone::engine
