#include "hone/evaluate/hidden_trial.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/growing_grid.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/measure/nearly_equal.h"
#include "hone/evaluate/repeat.h"
#include "hone/evaluate/shape_search.h"
#include "hone/evaluate/settle.h"
#include "hone/evaluate/verify/near_bound.h"
#include "hone/evaluate/verify/telling.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

/// Twice NaN and infinities: rows differ, and so do the ways in which a tensor holds them.
constexpr Family kHiddenFamilies[] = {Family::kNormal,   Family::kSparse,    Family::kLarge,    Family::kShifted,
                                      Family::kMantissa, Family::kNonFinite, Family::kNonFinite};

std::span<const Family> hidden_families(const task::Task& task) {
  constexpr size_t kOfEveryTask = 5;
  return std::span(kHiddenFamilies).first(task.nan_policy ? std::size(kHiddenFamilies) : kOfEveryTask);
}
/// A second of the emulator is a millisecond of a device. There the same extents meet in smaller products, shapes with fewer threads
/// and less arithmetic come first. What is long is so by itself, once along each symbol of a few, as far as a call stays cheap.
constexpr int64_t kMostEmulatedElements = 1 << 15, kFewThreads = 1 << 16, kManyThreads = 1 << 22;
/// Of what is long by itself: beyond what 16 bits count.
constexpr int64_t kMostEmulatedLong = 1 << 17;
constexpr size_t kMostEmulatedLongs = 4;
constexpr double kFewOperations = 1 << 20, kFewTiledOperations = 1 << 24, kLongOperations = 1 << 24;
/// Of a long shape's batch on the emulator, by what others took: one that is expected to take longer is shortened until it is not, but for
/// so short ones, which others are as well.
constexpr double kLongSeconds = 1;
constexpr int64_t kLeastLong = 1024, kShorter = 8, kMostBetween = 32;
/// Of a shape that a plan alone tells from others; not on an emulator.
constexpr int64_t kMostFarElements = 1 << 20;
/// Shapes on other sides of what a plan tells apart.
constexpr size_t kSidesScreened = 3, kSidesPromoted = 24, kWholePromoted = 2;
/// Calls at each hidden shape with inputs that look like what they are not, or lie where something changes; on an emulator one.
constexpr int kAgain = 2;
/// Builds for other values of symbols that a kernel bakes in.
constexpr size_t kBakedOtherwise = 2;
constexpr std::chrono::seconds kHiddenDeadline{10}, kEmulatedDeadline{120}, kOwnShapeDeadline{120};
/// Of the deadline: shapes that are expected to take longer are left out on the emulator.
constexpr double kMostExpectedShare = 0.5;
/// Of a stage's inputs and outputs. Where all families do not fit, they take turns.
constexpr int64_t kMostBytes = int64_t{2} << 30;

/// Bytes of inputs and outputs; nothing where the task makes no sense.
std::optional<int64_t> call_bytes(const task::Task& task, const task::Bindings& bindings) {
  const auto graph = task::instantiate(task.primitive, bindings);
  if (!graph) return std::nullopt;
  int64_t bytes = 1;
  for (const int64_t tensor : tensor_bytes(*graph)) bytes += tensor;
  return bytes;
}

/// Threads of one call; nothing where the plan does not fit the shape.
std::optional<int64_t> threads_needed(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, const kernel::Limits& limits) {
  const auto plan = kernel::bind(kernel, task, bindings, limits);
  if (!plan) return std::nullopt;
  int64_t threads = 0;
  for (const kernel::BoundLaunch& launch : plan->launches)
    threads += task::element_count(launch.grid) * task::element_count(launch.block);
  return threads;
}

bool is_workload(const task::Task& task, const task::Bindings& bindings) {
  return std::any_of(task.workloads.begin(), task.workloads.end(), [&](const task::Workload& workload) { return workload.bindings == bindings; });
}

/// Arithmetic operations of a call.
double hidden_work(const task::Task& task, const task::Bindings& bindings) {
  const auto graph = task::instantiate(task.primitive, bindings);
  return graph ? task::minimal_cost(*graph).flops : 0;
}

/// Arithmetic of a kernel that works in tiles, of which the last ones may be nearly empty: a product of one row and one column with
/// a long sum between them costs the emulator a whole tile at each step.
double tiled_work(const task::Task& task, task::Bindings bindings) {
  constexpr int64_t kTile = 64;
  for (auto& [symbol, extent] : bindings) extent = (extent + kTile - 1) / kTile * kTile;
  return hidden_work(task, bindings);
}

/// What a call of so many threads costs the emulator at a shape, 1 where it is cheap. Where many symbols multiply no shape is, and
/// then the cheapest come first: one row in each of two thousand blocks takes minutes, though its arithmetic is nothing.
double emulated_cost(const task::Task& task, const task::Bindings& bindings, int64_t threads) {
  return std::max({1.0, static_cast<double>(threads) / kFewThreads, hidden_work(task, bindings) / kFewOperations, tiled_work(task, bindings) / kFewTiledOperations});
}

/// A shape, and the seconds that its longest batch took.
using Took = std::pair<task::Bindings, double>;

/// What a batch at a shape may take at most where time grows as a power of extents, judged by the shapes that were met.
double expected_s(const task::Bindings& shape, std::span<const Took> met, double power = 1) {
  double least = HUGE_VAL;
  for (const auto& [other, seconds] : met) {
    double growth = 1;
    for (const auto& [symbol, extent] : shape) growth *= std::max(1.0, static_cast<double>(extent) / static_cast<double>(std::max<int64_t>(other.at(symbol), 1)));
    least = std::min(least, seconds * std::pow(growth, power));
  }
  return met.empty() ? 0 : least;
}

/// The shape, its longest symbol shortened until a batch is expected to take no more than `most_s`, even if each element looks at all
/// others; nothing where that leaves it short.
std::optional<task::Bindings> shortened(task::Bindings shape, std::span<const Took> met, double most_s) {
  int64_t& longest = std::ranges::max_element(shape, {}, [](const auto& symbol) { return symbol.second; })->second;
  while (longest >= kLeastLong && expected_s(shape, met, 2) > most_s) longest -= longest / 4;
  return longest >= kLeastLong ? std::optional(std::move(shape)) : std::nullopt;
}

/// What to do about a kernel whose time grows faster than the task's: empty where no symbol is longer than in all workloads. Names no number of
/// the shape, which is secret.
std::string if_too_slow(const task::Task& task, const task::Bindings& bindings) {
  std::vector<std::string> longer;
  for (const auto& [symbol, extent] : bindings) {
    int64_t most = 0;
    for (const task::Workload& workload : task.workloads) most = std::max(most, workload.bindings.at(symbol));
    if (extent > most) longer.push_back(fmt::format("\"{} <= {}\"", symbol, 2 * most));
  }
  if (longer.empty()) return {};
  return fmt::format(", at a longer shape than any workload's: a kernel that is too slow there may say how far it goes, for example requires = [{}]", fmt::join(longer, ", "));
}

/// Calls what was drawn anew for a slot, at its addresses and with whatever the kernel keeps.
Verdict call_again(Stage& stage, target::Session& session, int slot, std::chrono::seconds deadline) {
  target::Call call = stage.call(slot);
  call.remembers = true;
  const auto outcome = session.run({&call, 1}, deadline);
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  return unless_near_bound(stage.check(slot));
}

}  // namespace

std::vector<task::Bindings> HiddenTrial::admitted(const kernel::Kernel& kernel, int most) {
  std::vector<task::Bindings> all;
  const bool emulates = loader_.emulates(kernel);
  const auto [drawn, is_new] = shapes_.try_emplace(emulates);
  if (is_new)
    drawn->second = emulates ? hidden_shapes(loader_.task(), base::secret_seed(), kMostEmulatedElements, 0)
                             : hidden_shapes(loader_.task(), base::secret_seed());
  const task::Bindings& first = loader_.task().workloads.front().bindings;
  for (task::Bindings bindings : drawn->second) {
    if (!emulates && static_cast<int>(all.size()) == most) break;
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = first.find(symbol); it != first.end()) bindings[symbol] = it->second;
    const auto fits = kernel::applies(kernel, bindings, loader_.limits_for(kernel));
    if (fits && *fits && std::find(all.begin(), all.end(), bindings) == all.end()) all.push_back(std::move(bindings));
  }
  if (emulates) {
    std::map<task::Bindings, double> costs;
    for (const task::Bindings& bindings : all)
      costs[bindings] = emulated_cost(loader_.task(), bindings, threads_needed(kernel, loader_.task(), bindings, loader_.limits_for(kernel)).value_or(0));
    std::ranges::stable_sort(all, {}, [&](const task::Bindings& bindings) { return costs.at(bindings); });
  }
  if (static_cast<int>(all.size()) > most) all.resize(static_cast<size_t>(most));
  return all;
}

std::set<task::Bindings> HiddenTrial::secret() const {
  std::set<task::Bindings> all = tried_;
  for (const auto& [emulated, shapes] : shapes_) all.insert(shapes.begin(), shapes.end());
  // The workloads are known to everybody.
  for (const task::Workload& workload : loader_.task().workloads) all.erase(workload.bindings);
  return all;
}

std::optional<task::Bindings> HiddenTrial::own_shape(const kernel::Kernel& kernel) const {
  std::optional<task::Bindings> least;
  int64_t bytes = 0;
  for (const task::Workload& workload : loader_.task().workloads) {
    const auto fits = kernel::applies(kernel, workload.bindings, loader_.limits_for(kernel));
    const auto size = call_bytes(loader_.task(), workload.bindings);
    if (fits && *fits && size && (!least || *size < bytes)) least = workload.bindings, bytes = *size;
  }
  return least;
}

Result<Stage*> HiddenTrial::stage_at(const task::Bindings& bindings) {
  if (const auto it = stages_.find(bindings); it != stages_.end()) return it->second.get();
  HONE_TRY(auto stage, make_stage(bindings));
  return stages_.emplace(bindings, std::move(stage)).first->second.get();
}

/// Null where the task makes no sense at the shape.
Result<std::unique_ptr<Stage>> HiddenTrial::make_stage(const task::Bindings& bindings) {
  const task::Task& task = loader_.task();
  StageOptions options;
  const int tensors = static_cast<int>(task.inputs.size() + task.outputs.size());
  const int64_t bytes = call_bytes(task, bindings).value_or(1);
  const std::span<const Family> families = hidden_families(task);
  options.calls = static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(kMostEdgeRegions / tensors, kMostBytes / bytes), 1, std::ssize(families)));
  options.contents = options.calls;
  options.edge = true;
  options.threads = target::cpu_info().threads;
  options.card = loader_.card();
  options.nearest = nearest_;
  std::unique_ptr<Stage> stage;
  if (auto made = Stage::create(task, bindings, options)) {
    stage = std::move(*made);
  } else if (made.error().code != ErrorCode::kInput) {
    return tl::unexpected(made.error());
  }
  // Nothing is kept where the task itself makes no sense.
  for (int c = 0; stage && c < stage->contents(); ++c)
    stage->draw(c, families[static_cast<size_t>(c)], stage->telling_seed(families[static_cast<size_t>(c)]));
  return stage;
}

bool HiddenTrial::admits(const kernel::Kernel& kernel, const task::Bindings& bindings) const {
  const task::Bindings& first = loader_.task().workloads.front().bindings;
  if (std::ranges::any_of(kernel.header.specialise, [&](const std::string& symbol) { return bindings.at(symbol) != first.at(symbol); })) return false;
  const auto applies = kernel::applies(kernel, bindings, loader_.limits_for(kernel));
  return applies && *applies;
}

Fits HiddenTrial::small_ones(const kernel::Kernel& kernel) const {
  return [this, &kernel](const task::Bindings& bindings) {
    const task::Task& task = loader_.task();
    const bool emulates = loader_.emulates(kernel);
    if (!is_small(task, bindings, emulates ? kMostEmulatedElements / 4 : kMostHiddenElements, emulates ? kFewOperations : ShapeSearch().most_operations)) return false;
    if (!admits(kernel, bindings)) return false;
    const auto threads = emulates ? threads_needed(kernel, task, bindings, loader_.limits_for(kernel)) : 0;
    return threads && *threads <= kFewThreads / 4 && (!emulates || emulated_cost(task, bindings, *threads) <= 1);
  };
}

std::vector<task::Bindings> HiddenTrial::emulated_longs(const kernel::Kernel& kernel) const {
  const task::Task& task = loader_.task();
  const auto fits = [&](const task::Bindings& bindings) {
    return is_small(task, bindings, kMostEmulatedLong, kLongOperations, kMostBetween) && admits(kernel, bindings) &&
           threads_needed(kernel, task, bindings, loader_.limits_for(kernel)).value_or(INT64_MAX) <= kShorter * 2 * kFewThreads;
  };
  base::Rng rng(base::secret_seed());
  std::vector<std::string> symbols = task.symbols();
  rng.shuffle(symbols);
  symbols.resize(std::min(symbols.size(), kMostEmulatedLongs));
  std::vector<task::Bindings> all;
  for (const std::string& symbol : symbols) {
    const auto shape = long_in(task, symbol, {.most = kMostEmulatedLong, .alone = true}, fits, rng);
    if (!shape) continue;
    // A shorter one first, by which to judge.
    task::Bindings first = *shape;
    first[symbol] /= kShorter;
    all.push_back(std::move(first));
    all.push_back(std::move(*shape));
  }
  return all;
}

std::vector<task::Bindings> HiddenTrial::other_sides(const kernel::Kernel& kernel, std::span<const task::Bindings> tried, bool thorough) {
  const base::Span span("look for other sides");
  ShapeSearch search;
  const bool emulates = loader_.emulates(kernel);
  search.most = thorough ? kSidesPromoted : kSidesScreened;
  search.least = thorough ? kSidesPromoted / 2 : 1;
  search.ones = thorough;
  search.whole = thorough ? kWholePromoted : 0;
  if (emulates) search.most_elements = kMostEmulatedElements / 4, search.most_operations = kFewOperations, search.most /= 2, search.least = std::min(search.least, search.most);
  const kernel::Limits limits = loader_.limits_for(kernel);
  std::vector<task::Bindings> edges;
  if (thorough) edges = evaluate::edges(loader_.task(), small_ones(kernel), base::secret_seed());
  std::erase_if(edges, [&](const task::Bindings& bindings) { return std::ranges::count(tried, bindings) > 0; });
  std::vector<task::Bindings> known(tried.begin(), tried.end());
  known.insert(known.end(), edges.begin(), edges.end());
  // In their place.
  search.most -= std::min(search.most / 2, edges.size());
  search.least -= std::min(search.least / 2, edges.size());
  search.least = std::min(search.least, search.most);
  std::vector<task::Bindings> all = untried_sides(kernel, loader_.task(), limits, known, base::secret_seed(), search);
  const auto has_more_threads = [&](int64_t most) {
    return [&, most](const task::Bindings& bindings) { return threads_needed(kernel, loader_.task(), bindings, limits).value_or(0) > most; };
  };
  if (emulates) std::erase_if(all, has_more_threads(kFewThreads));
  if (!thorough) {
    all.insert(all.end(), edges.begin(), edges.end());
    return all;
  }
  // What a plan tells apart only beyond that, such as more than 65,535 rows, is worth two large shapes: the first may be just there.
  known.insert(known.end(), all.begin(), all.end());
  std::vector<task::Bindings> far;
  ShapeSearch one{.most = 1, .most_elements = kMostFarElements};
  if (emulates) one.most_elements = kMostFarElements / 2, one.most_operations = 4 * kFewOperations;
  for (int i = 0; i < 2; ++i) std::ranges::move(untried_sides(kernel, loader_.task(), limits, known, base::secret_seed(), one), std::back_inserter(far));
  if (emulates) std::erase_if(far, has_more_threads(kManyThreads));
  all.insert(all.end(), edges.begin(), edges.end());
  all.insert(all.end(), far.begin(), far.end());
  known.insert(known.end(), far.begin(), far.end());
  const Fits small = small_ones(kernel);
  const auto is_new = [&](const task::Bindings& bindings) { return small(bindings) && std::ranges::count(known, bindings) == 0; };
  std::ranges::move(few_of_each(loader_.task(), is_new, base::secret_seed()), std::back_inserter(all));
  return all;
}

std::vector<task::Bindings> HiddenTrial::baked_otherwise(const kernel::Kernel& kernel) {
  std::vector<task::Bindings> all;
  if (kernel.header.specialise.empty()) return all;
  for (const task::Bindings& bindings : shapes_.at(loader_.emulates(kernel))) {
    if (all.size() == kBakedOtherwise) break;
    const bool otherwise = std::ranges::any_of(kernel.header.specialise, [&](const std::string& symbol) {
      return std::ranges::none_of(loader_.task().workloads, [&](const task::Workload& w) { return w.bindings.at(symbol) == bindings.at(symbol); });
    });
    const auto fits = kernel::applies(kernel, bindings, loader_.limits_for(kernel));
    if (otherwise && fits && *fits) all.push_back(bindings);
  }
  return all;
}

Verdict HiddenTrial::check_nearly_again(Stage& stage, target::Session& session, int slot, std::chrono::seconds deadline) const {
  if (stage.contents() != stage.calls()) return {};
  const int content = stage.content_of(slot);
  stage.draw_near(content, content, changes_here_and_there(stage), base::secret_seed());
  // Its outputs hold the last call's answer, as they do for most users: who finds there what it wrote is not done.
  return said_of_nearly_equal(call_again(stage, session, slot, deadline));
}

/// Once more where the last call was, with other inputs at its addresses and with whatever the kernel keeps: where all calls differ
/// in their addresses, who goes by addresses is never wrong. The inputs look like what they are not, or lie where something changes: mostly
/// that where elements are nothing to each other; or, where some may be, whole lines of them are of one kind.
Verdict HiddenTrial::check_again(const kernel::Kernel& kernel, Stage& stage, target::Session& session, int slot, std::chrono::seconds deadline) const {
  if (stage.contents() != stage.calls()) return {};
  base::Rng rng(base::secret_seed());
  const int content = stage.content_of(slot);
  const bool equals = stage.asks_for_equals() && rng.below(4) != 0;
  const bool in_lines = !equals && rng.below(5) < 2;
  const bool telling = !equals && rng.below(4) < (is_elementwise(stage.graph().graph) ? 3 : 1);
  // What flushes denormal numbers, as compilers for cards may have it, is right there.
  const bool denormals = !loader_.card() && !loader_.emulates(kernel);
  const bool lined = in_lines && stage.draw_lines(content, rng.next_u64(), denormals);
  const bool told = !lined && telling && stage.draw_telling(content, rng.next_u64(), numbers_in(kernel.source), denormals);
  if (!lined && !told) stage.draw_alike(content, rng.next_u64());
  stage.poison({&slot, 1});
  Verdict verdict = call_again(stage, session, slot, deadline);
  return verdict.accepted() && (lined || told) && denormals ? stage.check_vanished(slot) : verdict;
}

/// Once more with its blocks in the usual order: whether it is that order which the wrong answer hangs on.
void HiddenTrial::ask_of_order(Verdict& verdict, Stage& stage, target::Session& session, const target::Call& call, int slot, std::chrono::seconds deadline) const {
  if (!verdict.clue || call.order == target::BlockOrder::kUsual) return;
  if (is_right_in_usual_order(stage, session, slot, deadline))
    verdict.clue->looks += std::string(verdict.clue->looks.empty() ? "" : "; ") + kHangsOnOrder;
}

namespace {

/// What another machine has another number of, as plans call it and as people do. Of multiprocessors no plan is made for more than there are; threads
/// take turns.
struct Workers {
  const char *symbol, *word;
  bool at_most_all;
};
constexpr Workers kWorkers[] = {{"SMS", "multiprocessor", true}, {"THREADS", "thread", false}};

}  // namespace

kernel::Limits HiddenTrial::limits_at(const kernel::Kernel& kernel, const task::Bindings& bindings) const {
  constexpr uint64_t kMostOfFew = 8, kMostOfMany = 300;
  const kernel::Limits limits = loader_.limits_for(kernel);
  base::Rng rng(base::secret_seed());
  if (rng.below(2) == 0) return limits;
  // Where tensors are larger than hidden ones usually are, a few multiprocessors' running sums would be as long as no workload has them.
  if (!is_small(loader_.task(), bindings, kMostHiddenElements, std::numeric_limits<double>::infinity())) return limits;
  kernel::Limits others = limits;
  for (const Workers& workers : kWorkers)
    if (const auto all = others.find(workers.symbol); all != others.end())
      all->second = 1 + static_cast<int64_t>(rng.below(workers.at_most_all ? std::min(kMostOfFew, static_cast<uint64_t>(all->second))
                                                                                : rng.below(3) == 0   ? kMostOfMany
                                                                                                      : kMostOfFew));
  const auto fits = kernel::applies(kernel, bindings, others);
  return fits && *fits ? others : limits;
}

Result<Verdict> HiddenTrial::check_at(const kernel::Kernel& kernel, const task::Bindings& bindings, Stage& stage,
                                     std::chrono::seconds deadline, bool thorough) {
  const kernel::Limits limits = limits_at(kernel, bindings), usual = loader_.limits_for(kernel);
  HONE_TRY(Verdict verdict, check_planned(kernel, bindings, limits, stage, deadline, thorough));
  for (const Workers& workers : kWorkers)
    if (const auto count = limits.find(workers.symbol); !verdict.accepted() && count != limits.end() && count->second != usual.at(workers.symbol) &&
                                                        kernel.source.find(workers.symbol) != std::string::npos)
      verdict.reason += fmt::format(" (with a plan for {} {}{})", count->second, workers.word, count->second == 1 ? "" : "s");
  return verdict;
}

Result<Verdict> HiddenTrial::check_planned(const kernel::Kernel& kernel, const task::Bindings& bindings, const kernel::Limits& limits, Stage& stage,
                                          std::chrono::seconds deadline, bool thorough) {
  Verdict closest;
  HONE_TRY(const Loaded loaded, loader_.load(kernel, stage, limits));
  if (!loaded.session) return loaded.verdict;
  const auto turn = static_cast<size_t>(stage.contents());
  const std::span<const Family> families = hidden_families(stage.task());
  for (size_t first = 0; first < families.size(); first += turn) {
    if (turn < families.size())
      for (size_t c = 0; c < turn; ++c) {
        const Family family = families[(first + c) % families.size()];
        stage.draw(static_cast<int>(c), family, stage.telling_seed(family));
      }
    std::vector<int> slots(static_cast<size_t>(stage.calls()));
    std::iota(slots.begin(), slots.end(), 0);
    base::Rng rng(base::secret_seed());
    rng.shuffle(slots);
    stage.poison(slots);
    // Which family meets which order is a secret too: the slots are shuffled.
    std::vector<target::BlockOrder> orders(std::begin(target::kBlockOrders), std::end(target::kBlockOrders));
    rng.shuffle(orders);
    // The emulator goes its own ways; any but the usual one has it hold few blocks at a time.
    if (loader_.emulates(kernel) && !grows(kernel, stage.task(), limits)) std::ranges::fill(orders, target::BlockOrder::kUsual);
    std::vector<target::Call> calls;
    for (const int slot : slots) {
      calls.push_back(stage.call(slot));
      calls.back().order = orders[calls.size() % orders.size()];
      calls.back().order_seed = base::secret_seed();
    }
    const auto outcome = loaded.session->run(calls, deadline);
    longest_s_ = std::max(longest_s_, static_cast<double>(outcome.wall_ns) * 1e-9);
    if (outcome.how != target::BatchOutcome::How::kDone) {
      Verdict verdict = verdict_of(outcome);
      if (outcome.how == target::BatchOutcome::How::kDeadline) verdict.reason += if_too_slow(stage.task(), bindings);
      verdict.reason += fmt::format(" (hidden shape {})", task::bindings_text(bindings));
      return verdict;
    }
    std::vector<NearVerdict> near;
    for (size_t i = 0; i < slots.size(); ++i) {
      const int slot = slots[i];
      Verdict verdict = stage.check(slot);
      if (is_near_bound(verdict)) {
        near.push_back({stage.content_of(slot), verdict});
        continue;
      }
      if (!verdict.accepted()) {
        ask_of_order(verdict, stage, *loaded.session, calls[i], slot, deadline);
        return verdict;
      }
      if (nearer(verdict, closest)) closest = std::move(verdict);
    }
    const bool settled = std::ranges::none_of(near, [&](const NearVerdict& one) { return one.content == stage.content_of(slots.back()); });
    if (thorough && first == 0 && settled && !loader_.emulates(kernel))  // there nothing is kept
      if (Verdict verdict = check_nearly_again(stage, *loaded.session, slots.back(), deadline); !verdict.accepted()) return verdict;
    for (int again = thorough && first == 0 && settled ? (loader_.emulates(kernel) ? 1 : kAgain) : 0; again > 0; --again)
      if (Verdict verdict = check_again(kernel, stage, *loaded.session, slots.back(), deadline); !verdict.accepted()) return verdict;
    if (Verdict verdict = check_repeated(stage, *loaded.session, slots, 1, deadline); !verdict.accepted()) return verdict;
    Verdict verdict = settle(stage, *loaded.session, near, deadline);
    if (!verdict.accepted()) return verdict;
    if (nearer(verdict, closest)) closest = std::move(verdict);
  }
  if (thorough)
    if (Verdict verdict = check_moved(stage, *loaded.session, deadline); !verdict.accepted()) return verdict;
  return closest;
}

bool HiddenTrial::unshipped(const kernel::Kernel& kernel, const task::Bindings& bindings) {
  if (is_workload(loader_.task(), bindings)) return false;  // without those it is no kernel
  const auto outcome = loader_.build(kernel, bindings);
  const auto* const failure = outcome ? std::get_if<target::BuildFailure>(&*outcome) : nullptr;
  return failure && failure->unshipped;
}

std::vector<std::string> HiddenTrial::only_at() const {
  std::vector<std::string> all;
  if (!generic_)
    for (const task::Workload& workload : loader_.task().workloads) all.push_back(task::bindings_text(workload.bindings));
  return all;
}

Result<Verdict> HiddenTrial::check(const kernel::Kernel& kernel, int most, bool thorough, Spent& spent) {
  const base::Span span("hidden shapes");
  *nearest_ = 0;
  std::vector<task::Bindings> shapes = admitted(kernel, most);
  generic_ = loader_.task().symbols().empty() || !shapes.empty();
  std::chrono::seconds deadline = loader_.emulates(kernel) ? kEmulatedDeadline : kHiddenDeadline;
  if (const auto own = shapes.empty() ? own_shape(kernel) : std::nullopt) {
    const int64_t all = call_bytes(loader_.task(), *own).value_or(0) * std::ssize(hidden_families(loader_.task()));
    if (thorough || all <= kMostBytes) shapes.push_back(*own);
    deadline = std::max(deadline, kOwnShapeDeadline);
  }
  Verdict closest;
  const size_t shared = shapes.size();
  std::pair<size_t, size_t> longs;  // from the first on, before the second: as long as a call of the emulator may be
  size_t baked = 0;                 // from here on: at other values of what it bakes in
  {
    const Stopwatch watch(spent.verify);
    const std::vector<task::Bindings> sides = other_sides(kernel, shapes, thorough);
    shapes.insert(shapes.end(), sides.begin(), sides.end());
    longs.first = shapes.size();
    if (thorough && loader_.emulates(kernel)) std::ranges::move(emulated_longs(kernel), std::back_inserter(shapes));
    longs.second = baked = shapes.size();
    if (thorough) std::ranges::move(baked_otherwise(kernel), std::back_inserter(shapes));
    generic_ |= std::any_of(sides.begin(), sides.end(), [&](const task::Bindings& side) { return !is_workload(loader_.task(), side); });
  }
  tried_.insert(shapes.begin(), shapes.end());
  size_t passed = 0;
  bool elsewhere = false;  // than at workloads
  std::vector<Took> met;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Stopwatch watch(spent.verify);
    if (i >= longs.first && i < longs.second) {
      auto shape = shortened(std::move(shapes[i]), met, kLongSeconds);
      if (!shape || !admits(kernel, *shape)) continue;
      tried_.insert(shapes[i] = std::move(*shape));
    }
    const task::Bindings bindings = shapes[i];
    if (unshipped(kernel, bindings)) {
      // Every kernel meets every family.
      if (const auto least = ++passed == shapes.size() ? own_shape(kernel) : std::nullopt) {
        shapes.push_back(*least);
        baked = shapes.size();
        deadline = std::max(deadline, kOwnShapeDeadline);
      }
      continue;
    }
    elsewhere |= i < baked && !is_workload(loader_.task(), bindings);
    std::unique_ptr<Stage> own;  // of shapes that are this kernel's alone
    Stage* stage = nullptr;
    if (i < shared) {
      HONE_TRY(stage, stage_at(bindings));
    } else {
      HONE_TRY(own, make_stage(bindings));
      stage = own.get();
    }
    if (!stage) continue;
    // The emulator may be too slow for a long shape where the kernel is not: one whose blocks take row after row and meet at each.
    if (i >= shared && loader_.emulates(kernel) && expected_s(bindings, met) > kMostExpectedShare * static_cast<double>(deadline.count())) continue;
    longest_s_ = 0;
    HONE_TRY(Verdict verdict, check_at(kernel, bindings, *stage, deadline, thorough));
    // It may rely on what a workload's values fit into; an answer has to be right wherever there is one.
    if (i >= baked && verdict.kind == VerdictKind::kDoesNotCompile) continue;
    if (!verdict.accepted()) return verdict;
    met.emplace_back(bindings, longest_s_);
    if (nearer(verdict, closest)) closest = std::move(verdict);
  }
  if (passed > 0) generic_ = elsewhere;
  return closest;
}

}  // namespace hone::evaluate
