// hone optimize for a program: its tasks optimised within one budget, by what each may gain as often as it runs; composed;
// checked as a whole against the module in fp64; measured against PyTorch. A task that is accepted alone and breaks the
// whole is found by bisection and left to PyTorch, as is one that is no faster in its place.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hone/face/cli/commands.h"
#include "hone/face/program/opened.h"

namespace hone::face {

[[nodiscard]] Result<int> optimize_program(const evaluate::ProgramSource& source, const OptimizeArguments& arguments);
[[nodiscard]] Result<int> explain_program(const evaluate::ProgramSource& source, const ExplainArguments& arguments);

/// Seconds of the search for each task that gets any, from what each may gain (nanoseconds a run of the program): in
/// proportion, but no task gets less than `least`, so that those with the smallest gains get nothing where not all can.
[[nodiscard]] std::vector<double> share_budget(const std::vector<double>& gains, double seconds, double least);

/// Whether one output of the composed program is no less accurate than PyTorch's own: the largest error and the root of
/// the mean square, each at most `slack` times what PyTorch's own has here or on average over all draws, with a floor in
/// roundoffs of the type. Empty, or the reason.
[[nodiscard]] std::string accuracy_reason(const evaluate::OutputCheck& check, const evaluate::OutputOff& average);

/// The names, of those that are on, without which `passes` holds; found by halves, one culprit at a time. `passes` is asked
/// with the names that are on; with none on it holds.
[[nodiscard]] Result<std::vector<std::string>> culprits(std::vector<std::string> names, const std::function<Result<bool>(const std::vector<std::string>& on)>& passes);

}  // namespace hone::face
