// A whole bench: task after task, each in a process of its own.
#pragma once
#include <functional>

#include "hone/face/bench/bench.h"

namespace hone::face::bench {

struct Work {
  std::filesystem::path home;
  /// Called in the process of the task; what it returns lives as long as that. The archive is opened here.
  std::function<Result<Services>(archive::Store& store)> services;
  std::function<Result<archive::Store>()> open_archive;
  std::function<int()> interrupts;         ///< how often the user asked for an end: once, the task at hand is finished
  std::function<void(const Progress&)> progress;
};

/// Works through what is left of a bench that is kept in `home`; true when nothing is left, false when the user asked for
/// an end. A task whose process dies is a row that says so.
[[nodiscard]] Result<bool> work_through(State& state, const Work& work);

}  // namespace hone::face::bench
