// Evidence made here, and what of somebody's evidence holds here. Blocking: builds, verifies, measures.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/engine/workbench.h"
#include "hone/face/evidence/evidence.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::face::evidence {

/// The kernel verified on fresh inputs and timed against `opponents` ("all", "none", a list), with everything beside it.
[[nodiscard]] Result<Evidence> make_evidence(const engine::Workbench& bench, const task::Task& task, const kernel::Kernel& kernel,
                                             const std::string& opponents, int threads, const evaluate::EvaluatorOptions& options);

/// The same with what a run found out about its champion. kInput unless the run was made on this device with this toolchain: the
/// binaries are built again for their hashes.
[[nodiscard]] Result<Evidence> evidence_of_run(const engine::Workbench& bench, const task::Task& task, const kernel::Kernel& champion,
                                               const evaluate::Promotion& promotion, const target::Place& there, const std::string& run,
                                               const evaluate::EvaluatorOptions& options);

struct Line {
  enum State : uint8_t {
    kHolds,
    kDiffers,    ///< it does not hold here
    kElsewhere,  ///< it cannot be told here, as device, compiler or hone are others; too few pairs were timed; or nobody asked
  } state = kHolds;
  std::string what;  ///< "source", "binary of kernel", "verdict"
  std::string says;
};
[[nodiscard]] std::string_view name_of(Line::State state);
[[nodiscard]] bool all_hold(const std::vector<Line>& lines);
[[nodiscard]] nlohmann::json to_json(const std::vector<Line>& lines);

/// What can be told without building anything: whether the file is as it was written, and its parts belong together.
[[nodiscard]] std::vector<Line> check_parts(const Evidence& evidence);
/// What is found by building, verifying and, unless `opponents` is "none", timing it here. The parts have to parse.
[[nodiscard]] Result<std::vector<Line>> replay(const Evidence& evidence, const engine::Workbench& bench, const std::string& opponents,
                                               const evaluate::EvaluatorOptions& options);

}  // namespace hone::face::evidence
