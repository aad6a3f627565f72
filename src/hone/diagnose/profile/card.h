// A kernel's metrics on a card: Nsight Compute watches its plan launched once (target/gpu/launch.h), its build and
// plan are read. Where counters may not be read, variants of the kernel with a stage left out stand in (card_variants.h), and
// what only counters tell is absent with the reason. One thread; nobody else may be timing on the card meanwhile.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/diagnose/profile/card_metrics.h"
#include "hone/diagnose/profile/card_variants.h"
#include "hone/diagnose/profile/profile.h"
#include "hone/target/card.h"
#include "hone/target/gpu/launch.h"

namespace hone::diagnose {

struct CardCase {
  kernel::Kernel kernel;
  const task::Task* task = nullptr;
  task::Bindings bindings;
};

struct CardReading {
  target::Build build;
  kernel::BoundPlan plan;
  task::Cost cost;
  std::vector<LaunchCounters> launches;  ///< of the plan, in its order; empty where nothing was counted
  std::string problem;                   ///< why not
  std::optional<VariantReading> variants;  ///< where nothing was counted: what stands in
};

class CardCounters {
 public:
  CardCounters(target::CardInfo card, std::shared_ptr<target::Toolchain> toolchain) : card_(std::move(card)), toolchain_(std::move(toolchain)) {}

  /// All cases in one run of ncu, which takes seconds however few they are. Inputs are drawn once for a task and its
  /// shapes and kept on disk as long as this lives. An Error is ours, or a kernel that does not build or bind (kInput).
  [[nodiscard]] Result<std::vector<CardReading>> read(std::span<const CardCase> cases);

  [[nodiscard]] const target::CardInfo& card() const { return card_; }

 private:
  Result<std::vector<target::LaunchTensor>> tensors_of(const CardCase& one);
  Status count(std::span<const CardCase> cases, std::vector<CardReading>& readings);
  Status vary(std::span<const CardCase> cases, std::vector<CardReading>& readings);
  Status vary(std::span<const size_t> which, std::span<const CardCase> cases, std::vector<CardReading>& readings);

  target::CardInfo card_;
  std::shared_ptr<target::Toolchain> toolchain_;
  std::optional<base::ScratchDirectory> inputs_;
  std::map<std::string, std::vector<target::LaunchTensor>> drawn_;  ///< by task and shapes
  std::string unavailable_;                                         ///< why counters cannot be had here, once that is known
};

/// Of an accepted kernel that was timed, a workload each. `times` as of Evaluator::conditions().
[[nodiscard]] Result<std::vector<Profile>> profile_card(CardCounters& counters, const kernel::Kernel& kernel, const task::Task& task,
                                                        const std::vector<evaluate::Conditions>& times);

/// From counters, code and plan alone: for kernels that nobody timed. In the order of `cases`.
[[nodiscard]] Result<std::vector<Metrics>> profile_counted(CardCounters& counters, std::span<const CardCase> cases);

}  // namespace hone::diagnose
