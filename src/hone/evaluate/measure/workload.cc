#include "hone/evaluate/measure/workload.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "hone/base/trace.h"
#include "hone/evaluate/baseline/stream_twin.h"
#include "hone/evaluate/compare/statistics.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

using kernel::Kernel;

constexpr int kMostCalls = 4000;  // the runner's table holds 4096
/// Share of the available memory that inputs and outputs may take: the oracle and the compiler need some.
constexpr double kMostMemory = 0.8;
/// The same of a card's free memory: contexts and workspaces need some.
constexpr double kMostCardMemory = 0.85;
/// Above these bytes a call, two contents instead of four: drawing and carrying them would take longer than the search.
constexpr int64_t kManyBytes = int64_t{2} << 30;
/// More than any memory here gives, and than a core of today computes in 8 bits (bytes and operations a
/// nanosecond): a batch of as many calls as this suggests is long enough.
constexpr double kFastestMemory = 50;
constexpr double kFastestCore = 1000;

std::string gibibytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / static_cast<double>(int64_t{1} << 30)); }

std::vector<Kernel> twin_variants(const task::Task& task, bool on_card) {
  if (on_card) return stream_twins_cuda(task);
  const Kernel twin = stream_twin(task);
  std::vector<Kernel> variants;
  for (const int64_t block : {16, 64})
    for (const int64_t non_temporal : {1, 0}) {
      Kernel variant = twin;
      variant.config = {{"BLOCK_KIB", block}, {"NON_TEMPORAL", non_temporal}};
      variants.push_back(std::move(variant));
    }
  return variants;
}

/// Takes slots from the workloads that need most, down to one each, until what all need together, the sum of need(i),
/// is no more than `most` or cannot fall. What they need then.
template <class Need>
double fit(std::vector<Playing>& plays, double most, Need need) {
  for (;;) {
    double wanted = 0, largest = 0;
    Playing* takes_most = nullptr;
    for (size_t i = 0; i < plays.size(); ++i) {
      const double needed = need(i);
      wanted += needed;
      if (plays[i].slots > 1 && needed > largest) largest = needed, takes_most = &plays[i];
    }
    if (wanted <= most || !takes_most) return wanted;
    // Batches are a matter of time: they are shorter where nothing else helps.
    takes_most->batch = std::min(takes_most->batch, --takes_most->slots);
  }
}

}  // namespace

Result<TwinTimes> time_twins(Playing& play, Player* candidate, Loader& loader, base::Rng& rng) {
  const base::Span span("stream twins");
  TwinTimes all;
  all.variants = twin_variants(loader.task(), loader.card() != nullptr);
  const task::Bindings& bindings = play.workload->bindings;
  // Nothing is measured yet, so compilers may have every core.
  parallel_for(static_cast<int64_t>(all.variants.size()), target::cpu_info().threads,
               [&](int64_t i) { (void)loader.build(all.variants[static_cast<size_t>(i)], bindings); });
  std::vector<Player> twins;
  for (const Kernel& variant : all.variants) {
    HONE_TRY(Loaded loaded, loader.load(variant, *play.stage));
    if (!loaded.session)
      return fail(ErrorCode::kInternal, "the stream kernel does not run: " + loaded.verdict.reason,
                  loaded.verdict.detail);
    const int64_t empty = loaded.session->empty_batch_ns();
    twins.push_back({std::move(loaded.session), empty, Pace(play.batch)});
  }
  std::vector<Player*> players;
  for (Player& twin : twins) players.push_back(&twin);
  if (candidate) players.push_back(candidate);
  // Interleaved, so that a slow moment does not fall on one variant alone.
  const int rounds = play.batch > 1 ? 6 : 4;  // the first of several calls may be no more than a probe
  Spent spent;
  std::vector<std::vector<double>> times(players.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < players.size(); ++i) {
      const std::vector<int> slots = pick_fresh_slots(play, players[i]->pace.calls(), rng);
      BatchOptions batch;
      batch.bound_ns = play.bound_ns();
      if (players[i] == candidate) (void)redraw(*play.stage, slots);
      const Timed timed = time_batch(*play.stage, *players[i], slots, batch, spent);
      if (players[i] != candidate && !timed.verdict.accepted() && timed.verdict.kind != VerdictKind::kWrong)
        return fail(ErrorCode::kInternal, "the stream kernel does not run: " + timed.verdict.reason);
      if (timed.ns > 0 && !timed.probe) times[i].push_back(timed.ns);
    }
  for (size_t i = 0; i < twins.size(); ++i) all.ns.push_back(times[i].empty() ? 0 : median(times[i]));
  if (candidate && !times.back().empty()) all.candidate_ns = median(times.back());
  return all;
}

std::vector<int> pick_slots(const Stage& stage, int count, base::Rng& rng) {
  std::vector<int> slots(static_cast<size_t>(stage.calls()));
  std::iota(slots.begin(), slots.end(), 0);
  rng.shuffle(slots);
  slots.resize(static_cast<size_t>(std::min(count, stage.calls())));
  return slots;
}

std::span<const Family> untimed_families(const task::Task& task) {
  static constexpr Family kUntimed[] = {Family::kSparse, Family::kLarge, Family::kMantissa, Family::kInteger, Family::kNonFinite, Family::kNonFinite};
  constexpr size_t kOfEveryTask = 4;
  return std::span(kUntimed).first(task.nan_policy ? std::size(kUntimed) : kOfEveryTask);
}

std::vector<int> pick_fresh_slots(const Playing& play, int count, base::Rng& rng) {
  std::vector<int> slots = pick_slots(*play.stage, play.stage->calls(), rng);
  if (play.has_fresh_slots()) std::erase_if(slots, [&](int slot) { return play.stage->content_of(slot) < play.pool; });
  slots.resize(std::min(slots.size(), static_cast<size_t>(count)));
  return slots;
}

std::vector<int> pick_known_slots(const Playing& play, int count, base::Rng& rng, std::vector<int>& known) {
  std::vector<int> slots = pick_slots(*play.stage, play.stage->calls(), rng);
  const auto in_pool = [&](int slot) { return play.stage->content_of(slot) < play.pool; };
  const auto wanted = std::min(slots.size(), static_cast<size_t>(count));
  std::swap(slots[rng.below(wanted)], *std::find_if(slots.begin(), slots.end(), in_pool));
  slots.resize(wanted);
  known.clear();
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(known), in_pool);
  return slots;
}

uint64_t redraw(Stage& stage, std::span<const int> slots) {
  const uint64_t secret = base::secret_seed();
  base::Rng rng(secret);
  std::vector<Stage::Draw> draws;
  std::set<int> contents;
  for (const int slot : slots)
    if (contents.insert(stage.content_of(slot)).second)
      draws.push_back({stage.content_of(slot), kTimedFamilies[rng.below(std::size(kTimedFamilies))], rng.next_u64()});
  stage.draw(draws);
  return secret;
}

Result<std::vector<Playing>> plan_workloads(const task::Task& task, target::Card* card, int64_t available) {
  std::vector<Playing> plays;
  std::vector<double> input_bytes;
  for (const task::Workload& workload : task.workloads) {
    Playing& play = plays.emplace_back();
    play.workload = &workload;
    HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, workload.bindings));
    play.cost = task::minimal_cost(graph);
    int64_t bytes = 1;
    for (size_t i = 0; i < task.inputs.size(); ++i)
      bytes += task::element_count(graph.shapes[static_cast<size_t>(graph.graph.inputs[i])]) * task::size_of(task.inputs[i].type.dtype);
    input_bytes.push_back(static_cast<double>(bytes));
    for (const int output : graph.graph.outputs)
      bytes += task::element_count(graph.shapes[static_cast<size_t>(output)]) * task::size_of(graph.graph.node(output).type.dtype);
    play.bytes = static_cast<double>(bytes);
    const double guess_ns = std::max(play.bytes / kFastestMemory, play.cost.flops / (kFastestCore * target::cpu_info().threads));
    const int64_t room = std::max<int64_t>(1, (int64_t{1} << 30) / bytes);
    const auto most_calls = static_cast<double>(std::min<int64_t>(kMostCalls, room));
    play.batch = static_cast<int>(std::clamp<double>(1.25 * static_cast<double>(kShortestBatchNs) / guess_ns, 1, most_calls));
    const int64_t contents = bytes > kManyBytes ? 2 : std::size(kTimedFamilies);
    play.pool = static_cast<int>(std::min<int64_t>(contents, 4 * room));
    play.slots = bytes > kManyBytes ? std::max(play.batch, play.pool) : play.batch + play.pool;
  }
  const double on_host = available < 0 ? HUGE_VAL : kMostMemory * static_cast<double>(available);
  // Beside a card the host keeps each content's inputs once, and what it looks at of outputs. Further draws of the
  // anchor come on top, a workload at a time.
  const auto kept = [&](size_t i) { return card ? input_bytes[i] * plays[i].slots : plays[i].bytes * plays[i].slots; };
  double largest = 0, outputs = 0;
  for (size_t i = 0; i < plays.size(); ++i) {
    largest = std::max(largest, card ? input_bytes[i] : plays[i].bytes);
    outputs = std::max(outputs, (plays[i].bytes - input_bytes[i]) * plays[i].batch);
  }
  if (card) {
    const auto free = static_cast<double>(card->free_memory());
    const double most = kMostCardMemory * free;
    // If it can be, opponents that put their outputs elsewhere have room for a batch's.
    const double wanted = fit(plays, most - outputs, [&](size_t i) { return plays[i].bytes * plays[i].slots; });
    if (wanted > most)
      return fail(ErrorCode::kExhausted,
                  fmt::format("the workloads need {} on the card for inputs and outputs, but only {} are free", gibibytes(wanted), gibibytes(free)),
                  "use smaller workloads, or fewer");
    (void)fit(plays, on_host - largest, kept);
  }
  const auto wants = [&] {
    double sum = largest;
    for (size_t i = 0; i < plays.size(); ++i) sum += kept(i);
    return sum;
  };
  // Rather old inputs in a screening than none.
  if (wants() > on_host)
    for (Playing& play : plays) play.slots = std::min(play.slots, std::max(play.batch, play.pool));
  const double wanted = wants();
  // Before anything is allocated: a machine that runs out of memory helps nobody.
  if (wanted > on_host)
    return fail(ErrorCode::kExhausted,
                fmt::format("the workloads need {} of memory for inputs and outputs, but only {} are available",
                            gibibytes(wanted), gibibytes(static_cast<double>(available))),
                "use smaller workloads, or fewer");
  return plays;
}

void take_twins(const TwinTimes& times, Playing& play) {
  for (size_t v = 0; v < times.variants.size(); ++v) {
    const auto streams = times.variants[v].config.find("NON_TEMPORAL");
    if (times.ns[v] > 0 && streams != times.variants[v].config.end()) {
      double& kept = streams->second ? play.memory_stream_ns : play.memory_plain_ns;
      kept = kept == 0 ? times.ns[v] : std::min(kept, times.ns[v]);
    }
    if (times.ns[v] > 0 && (play.memory_ns == 0 || times.ns[v] < play.memory_ns)) {
      play.memory_ns = times.ns[v];
      play.twin = times.variants[v];
    }
  }
}

Status prepare_workload(Playing& play, Loader& loader, base::Rng& rng, std::shared_ptr<const Facts> facts) {
  StageOptions options;
  options.calls = options.contents = play.slots;
  options.threads = target::cpu_info().threads;
  options.card = loader.card();
  options.facts = std::move(facts);
  HONE_TRY(play.stage, Stage::create(loader.task(), play.workload->bindings, options));
  std::vector<Stage::Draw> draws;
  for (int c = 0; c < play.stage->contents(); ++c)
    draws.push_back({c, kTimedFamilies[static_cast<size_t>(c) % std::size(kTimedFamilies)], base::secret_seed()});
  play.stage->draw(draws);
  play.pool = std::min(play.pool, play.slots);
  if (loader.card()) play.stage->begin_bounds();
  HONE_TRY(const TwinTimes times, time_twins(play, nullptr, loader, rng));
  take_twins(times, play);
  return {};
}

}  // namespace hone::evaluate
