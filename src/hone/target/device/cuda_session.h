// Sessions on a card: a kernel in a worker process (cuda_worker.h). See session.h for the contract.
#pragma once
#include <memory>
#include <span>
#include <variant>

#include "hone/target/card.h"

namespace hone::target {

class CudaWorkers;
[[nodiscard]] std::shared_ptr<CudaWorkers> make_cuda_workers();
void expect_cuda_sessions(CudaWorkers& workers, const CardInfo& card, int sessions);

[[nodiscard]] Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start_cuda_session(
    const std::shared_ptr<CudaWorkers>& workers, const CardInfo& card, const Build& build, const kernel::BoundPlan& plan, int tensors,
    std::span<const Region* const> regions);

}  // namespace hone::target
