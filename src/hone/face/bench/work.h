// A whole bench: task after task, in a process that may die without ending the bench; on several cards a process a card, which takes
// the next task whenever it is done with one, so that each card is timed by nobody else.
#pragma once
#include <functional>

#include "hone/face/bench/bench.h"

namespace hone::face::bench {

struct Work {
  std::filesystem::path home;
  /// Both are called in the other process.
  std::function<Result<archive::Store>()> open_archive;
  std::function<Result<Services>(archive::Store& store, const std::string& target)> services;
  std::function<int()> interrupts;         ///< how often the user asked for an end: once, the task at hand is finished
  std::function<void(const Progress&)> progress;
};

/// Works through what is left of a bench that is kept in `home`; true when nothing is left, false when the user asked for
/// an end. A task in which the process dies is a row that says so, and another process goes on. apart() says what this
/// process must not have done yet.
[[nodiscard]] Result<bool> work_through(State& state, const Work& work);

}  // namespace hone::face::bench
