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

/// The others: tried at full size once before a promotion.
[[nodiscard]] std::span<const Family> untimed_families(const task::Task& task);

struct Playing {
  const task::Workload* workload = nullptr;
  std::unique_ptr<Stage> stage;
  int batch = 1;             ///< most calls of a timed batch
  int slots = 1;             ///< calls with buffers of their own, a content each
  int pool = 1;              ///< contents 0 to here are kept from screening to screening, with their answers
  /// What the latest fresh inputs of a batch, and judging a call, took (nanoseconds); 0: not known yet.
  int64_t drawing_ns = 0, judging_ns = 0;
  double bytes = 0;          ///< of inputs and outputs together
  task::Cost cost;
  kernel::Kernel twin;       ///< the fastest configuration here
  double memory_ns = 0;      ///< its time; 0 until prepared
  /// The fastest twin that stores past the caches, and through them; 0: there is none (on a card).
  double memory_stream_ns = 0, memory_plain_ns = 0;
  double compute_ns = 0;     ///< least multiply-adds at the CPU's peaks; 0 without any
  [[nodiscard]] double bound_ns() const { return std::max(memory_ns, compute_ns); }
  /// Whether there are slots for a batch beside the pool's.
  [[nodiscard]] bool has_fresh_slots() const { return slots >= batch + pool; }
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

/// Has the twin's times as the memory side of the bound, where they are less than what it was (or it was 0).
void take_twins(const TwinTimes& times, Playing& play);

/// `count` of the stage's slots (or all, if it has fewer), in random order.
[[nodiscard]] std::vector<int> pick_slots(const Stage& stage, int count, base::Rng& rng);
/// The same, without those of the pool where others are enough.
[[nodiscard]] std::vector<int> pick_fresh_slots(const Playing& play, int count, base::Rng& rng);
/// The same of all slots, one of the pool's among them at least; `known` are those.
[[nodiscard]] std::vector<int> pick_known_slots(const Playing& play, int count, base::Rng& rng, std::vector<int>& known);

/// The content of each of these slots anew, from one secret seed, which is returned: what is drawn follows from it, the
/// slots and their order.
uint64_t redraw(Stage& stage, std::span<const int> slots);

}  // namespace hone::evaluate
