// Sessions on a card: a kernel in a worker process (worker.h). See device/session.h for the contract.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <variant>

#include "hone/target/card.h"

namespace hone::target {

class GpuWorkers;
[[nodiscard]] std::shared_ptr<GpuWorkers> make_gpu_workers();
void expect_gpu_sessions(GpuWorkers& workers, const CardInfo& card, int sessions);

[[nodiscard]] Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start_gpu_session(
    const std::shared_ptr<GpuWorkers>& workers, const CardInfo& card, const Build& build, const kernel::BoundPlan& plan, int tensors,
    std::span<const Region* const> regions);

namespace worker {
struct GpuControl;
}
/// Why no card of this kind takes the plan; empty when it does. `facts`: Build::facts.
[[nodiscard]] std::string refuse_plan(const CardInfo& card, const kernel::BoundPlan& plan, const std::map<std::string, double>& facts);
/// Writes a plan that passed refuse_plan() where a worker reads it; the image is not. kInput for what is too large.
[[nodiscard]] Status fill_plan(worker::GpuControl& control, const Build& build, const kernel::BoundPlan& plan, int tensors,
                               std::span<const Region* const> regions);

}  // namespace hone::target
