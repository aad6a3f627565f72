// The regions of a program as tasks: ordinary task files, the same one for all regions that compute the same (after names
// are made anew), and the steps that say which values go into which task. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/program/cut.h"
#include "hone/program/program.h"
#include "hone/program/task_text.h"
#include "hone/task/task.h"

namespace hone::program {

/// What some regions have in common.
struct CutTask {
  task::Task task;                ///< named after what it does, unlike all others of its program
  std::vector<int> steps;         ///< that run it: the multiplicity is their number
};

/// One region, in the order of the program.
struct Step {
  Region::Kind kind = Region::Kind::kEager;
  int task = -1;                  ///< of kTask: index into Plan::tasks
  std::vector<int> inputs;        ///< nodes, in the order of the task's inputs
  std::vector<int> outputs;       ///< nodes, in the order of the task's outputs
  std::vector<int> body;          ///< nodes to run one after the other where PyTorch does it
  std::string why;                ///< of kEager: the reason
  int written = -1;               ///< index into Plan::written: it runs only where that does
};

/// An operator of PyTorch's that was written out as steps: those run, or the operator as one step.
struct WrittenOut {
  std::string name;               ///< unlike all tasks' and others' of its program
  int whole = -1;                 ///< index into Program::wholes
  Step step;                      ///< the operator's; its body is the views that it reads through
  int first = 0, count = 0;       ///< of Plan::steps, one behind the other
};

struct Plan {
  std::vector<CutTask> tasks;
  std::vector<Step> steps;
  std::vector<WrittenOut> written;
};

[[nodiscard]] Plan plan_program(const Program& program, const std::vector<Region>& regions);

/// Of integers that pick elements: below which number each must lie (0 and up), from how the program uses it and, for constants,
/// from what it holds. Nodes that pick nothing have none.
[[nodiscard]] Bounds index_bounds(const Program& program);

}  // namespace hone::program
