#include "hone/evaluate/hidden_trial.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"

namespace hone::evaluate {
namespace {

constexpr Family kFamilies[] = {Family::kNormal, Family::kSparse, Family::kLarge, Family::kShifted, Family::kMantissa};
/// Regions of an edge stage, one a tensor and call, must fit into a session's table.
constexpr int kMostRegions = 60;
constexpr std::chrono::seconds kDeadline{10}, kEmulatedDeadline{120};

}  // namespace

HiddenTrial::HiddenTrial(Loader& loader)
    : loader_(loader), shapes_(hidden_shapes(loader.task(), base::secret_seed())) {}

std::vector<task::Bindings> HiddenTrial::admitted(const kernel::Kernel& kernel, int most) const {
  std::vector<task::Bindings> all;
  const task::Bindings& first = loader_.task().workloads.front().bindings;
  for (task::Bindings bindings : shapes_) {
    if (static_cast<int>(all.size()) == most) break;
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = first.find(symbol); it != first.end()) bindings[symbol] = it->second;
    const auto fits = kernel::applies(kernel, bindings, loader_.limits_for(kernel));
    if (fits && *fits && std::find(all.begin(), all.end(), bindings) == all.end()) all.push_back(std::move(bindings));
  }
  return all;
}

Result<Stage*> HiddenTrial::stage_at(const task::Bindings& bindings) {
  if (const auto it = stages_.find(bindings); it != stages_.end()) return it->second.get();
  const task::Task& task = loader_.task();
  StageOptions options;
  const int tensors = static_cast<int>(task.inputs.size() + task.outputs.size());
  options.calls = std::clamp(kMostRegions / tensors, 1, static_cast<int>(std::size(kFamilies)));
  options.contents = options.calls;
  options.edge = true;
  options.card = loader_.card();
  std::unique_ptr<Stage> stage;
  if (auto made = Stage::create(task, bindings, options)) {
    stage = std::move(*made);
  } else if (made.error().code != ErrorCode::kInput) {
    return tl::unexpected(made.error());
  }
  // Nothing is kept where the task itself makes no sense.
  for (int c = 0; stage && c < stage->contents(); ++c)
    stage->draw(c, kFamilies[static_cast<size_t>(c)], base::secret_seed());
  return stages_.emplace(bindings, std::move(stage)).first->second.get();
}

Result<Verdict> HiddenTrial::check(const kernel::Kernel& kernel, int most, Spent& spent) {
  Verdict closest;
  for (const task::Bindings& bindings : admitted(kernel, most)) {
    const Stopwatch watch(spent.verify);
    HONE_TRY(Stage * stage, stage_at(bindings));
    if (!stage) continue;
    HONE_TRY(const Loaded loaded, loader_.load(kernel, *stage));
    if (!loaded.session) return loaded.verdict;
    std::vector<int> slots(static_cast<size_t>(stage->calls()));
    std::iota(slots.begin(), slots.end(), 0);
    base::Rng rng(base::secret_seed());
    for (size_t i = slots.size(); i > 1; --i) std::swap(slots[i - 1], slots[rng.below(i)]);
    stage->poison(slots);
    std::vector<target::Call> calls;
    for (const int slot : slots) calls.push_back(stage->call(slot));
    const bool emulated = loader_.emulates(kernel);
    const auto outcome = loaded.session->run(calls, emulated ? kEmulatedDeadline : kDeadline);
    if (outcome.how != target::BatchOutcome::How::kDone) {
      Verdict verdict = verdict_of(outcome);
      verdict.reason += fmt::format(" (hidden shape {})", task::bindings_text(bindings));
      return verdict;
    }
    for (const int slot : slots) {
      Verdict verdict = stage->check(slot);
      if (!verdict.accepted()) return verdict;
      if (nearer(verdict, closest)) closest = std::move(verdict);
    }
  }
  return closest;
}

}  // namespace hone::evaluate
