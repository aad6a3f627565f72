// One workload as it is played over and over: its stage, how many calls a batch may hold, its cost, and
// the stream twin that bounds it.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/loader.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/stage.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Families of the pool at full size. Denormals cost time on some CPUs and have no place in a timing.
inline constexpr Family kTimedFamilies[] = {Family::kNormal, Family::kUniform, Family::kShifted};

struct Playing {
  const task::Workload* workload = nullptr;
  std::unique_ptr<Stage> stage;
  int batch = 1;             ///< most calls of a timed batch
  int slots = 1;             ///< calls with buffers of their own
  double bytes = 0;          ///< of inputs and outputs together
  task::Cost cost;
  kernel::Kernel twin;       ///< the fastest configuration here
  double memory_ns = 0;      ///< its time; 0 until prepared
  /// The fastest twin that stores past the caches, and through them; 0: there is none (on a card).
  double memory_stream_ns = 0, memory_plain_ns = 0;
  double compute_ns = 0;     ///< least multiply-adds at the CPU's peaks; 0 without any
  [[nodiscard]] double bound_ns() const { return std::max(memory_ns, compute_ns); }
};

/// The workloads of a task, without stages yet; on `card`, if there is one. There the slots are as many as its memory
/// and the machine's hold, one at least: a workload with one slot has one content. kExhausted when the card or the
/// machine, of which `available` bytes are (below 0: not known), has not the memory for all.
[[nodiscard]] Result<std::vector<Playing>> plan_workloads(const task::Task& task, target::Card* card = nullptr,
                                                          int64_t available = target::available_memory());

/// Allocates the stage (`facts`: StageOptions), draws its contents, and times the stream twin's variants.
[[nodiscard]] Status prepare_workload(Playing& play, Loader& loader, base::Rng& rng, std::shared_ptr<const Facts> facts = nullptr);

/// Times of the twin's variants in interleaved rounds, and of a candidate beside them if there is one.
struct TwinTimes {
  std::vector<kernel::Kernel> variants;
  std::vector<double> ns;                 ///< of each variant, median
  double candidate_ns = 0;                ///< median; 0 without a candidate
};
[[nodiscard]] Result<TwinTimes> time_twins(Playing& play, Player* candidate, Loader& loader, base::Rng& rng);

/// `count` of the stage's slots (or all, if it has fewer), in random order.
[[nodiscard]] std::vector<int> pick_slots(const Stage& stage, int count, base::Rng& rng);

/// Every content of these slots anew, from secret seeds, which are appended.
void redraw(Stage& stage, std::span<const int> slots, std::vector<uint64_t>& seeds);

}  // namespace hone::evaluate
