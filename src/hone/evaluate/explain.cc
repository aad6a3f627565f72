#include "hone/evaluate/explain.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/error_kind.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/repeat.h"
#include "hone/evaluate/sanitize.h"
#include "hone/evaluate/shape_search.h"
#include "hone/evaluate/verify/telling.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

/// A shape costs tens of milliseconds on a CPU and a second on the emulator.
constexpr size_t kShapesTried = 6, kSidesTried = 4;
/// Of its time an explanation spends so much, once the failure showed, on finding where it also says what was computed instead.
constexpr int kShareForInstead = 4;
/// Wrong answers at a shape that are held against what else may have been computed, and for how long: normal values first, as others hide sums.
constexpr size_t kHeldAgainst = 3;
constexpr std::chrono::seconds kHoldingAgainst{1};
/// A call that takes longer shows again that it does not finish.
constexpr std::chrono::seconds kSaysItDoesNotFinish{4};
constexpr int64_t kMostElementsExplained = 1 << 13;
constexpr double kMostOperationsExplained = 1 << 20;
/// Beyond it an odd extent is a few tiles of most vectors and a tail.
constexpr int64_t kManyTiles = 32;
constexpr size_t kReportShown = 3000;

/// Shapes for this alone: small and odd ones, and the sides of what the kernel's plan tells apart.
std::vector<task::Bindings> own_shapes(const kernel::Kernel& kernel, Loader& loader, const std::set<task::Bindings>& secret) {
  const task::Task& task = loader.task();
  const kernel::Limits limits = loader.limits_for(kernel);
  const uint64_t seed = base::secret_seed();
  std::vector<task::Bindings> all;
  const auto add = [&](task::Bindings bindings) {
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = task.workloads.front().bindings.find(symbol); it != task.workloads.front().bindings.end()) bindings[symbol] = it->second;
    const auto fits = kernel::applies(kernel, bindings, limits);
    if (fits && *fits && !secret.contains(bindings) && std::find(all.begin(), all.end(), bindings) == all.end()) all.push_back(std::move(bindings));
  };
  for (task::Bindings& bindings : hidden_shapes(task, seed, kMostElementsExplained, kMostElementsExplained))
    if (all.size() < kShapesTried) add(std::move(bindings));
  // A tail behind a few tiles of any power of two, along each symbol: what most wrong kernels forget, and chance may leave out.
  base::Rng rng(seed, 0x7461696c);
  const auto has_tail = [](int64_t extent) { return extent > kManyTiles && extent % 2 != 0; };
  for (const std::string& symbol : task.symbols()) {
    if (all.empty() || std::ranges::any_of(all, [&](const task::Bindings& bindings) { return has_tail(bindings.at(symbol)); })) continue;
    task::Bindings bindings = all[rng.below(all.size())];
    bindings[symbol] = kManyTiles + 1 + 2 * static_cast<int64_t>(rng.below(kManyTiles / 2));
    if (is_small(task, bindings, kMostElementsExplained, kMostOperationsExplained)) add(std::move(bindings));
  }
  ShapeSearch search;
  search.most = kSidesTried;
  search.most_elements = kMostElementsExplained;
  search.most_operations = kMostOperationsExplained;
  for (task::Bindings& bindings : untried_sides(kernel, task, limits, all, seed + 1, search)) add(std::move(bindings));
  // The workloads are nobody's secret.
  for (const task::Workload& workload : task.workloads)
    if (is_small(task, workload.bindings, kMostElementsExplained * 16, kMostOperationsExplained * 16)) add(workload.bindings);
  // The cheapest first: they are also what is read most easily.
  const auto cost = [&](const task::Bindings& bindings) {
    const auto graph = task::instantiate(task.primitive, bindings);
    if (!graph) return 0.0;
    const task::Cost least = task::minimal_cost(*graph);
    return least.bytes_read + least.bytes_written + least.flops;
  };
  std::ranges::stable_sort(all, {}, cost);
  return all;
}

/// The clock of an explanation.
struct Time {
  int64_t began_ns = base::system_clock().now_ns(), until_ns;
  explicit Time(std::chrono::nanoseconds within) : until_ns(began_ns + within.count()) {}
  [[nodiscard]] std::chrono::nanoseconds left() const { return std::chrono::nanoseconds(std::max<int64_t>(0, until_ns - base::system_clock().now_ns())); }
  [[nodiscard]] bool is_up() const { return left().count() == 0; }
  [[nodiscard]] bool is_for_instead() const { return base::system_clock().now_ns() < began_ns + (until_ns - began_ns) / kShareForInstead; }
};

/// A failure that showed again.
struct Found {
  Explanation said;
  bool answers = false;   ///< it has some, that are wrong
  bool instead = false;   ///< it says what was computed
};

/// In which order families are tried: the one that the verdict names first.
std::vector<Family> families_of(const task::Task& task, const Verdict& verdict) {
  std::vector<Family> all(std::begin(kAllFamilies), std::end(kAllFamilies));
  if (task.nan_policy) all.push_back(Family::kNonFinite);
  const std::string first = verdict.clue ? verdict.clue->inputs : verdict.accuracy ? verdict.accuracy->family : "";
  std::ranges::stable_partition(all, [&](Family family) { return first.starts_with(name_of(family)); });
  return all;
}

/// Draws what a hidden trial may draw besides its families; nothing of that kind for this task: false.
bool draw_otherwise(Stage& stage, int content, size_t way, const kernel::Kernel& kernel, bool denormals) {
  const uint64_t seed = base::secret_seed();
  if (way == 1) return stage.draw_telling(content, seed, numbers_in(kernel.source), denormals);
  if (way == 2) return stage.draw_lines(content, seed, denormals);
  stage.draw_alike(content, seed);
  return true;
}
constexpr size_t kOtherWays = 3;

/// A wrong slot of a batch in words: its outputs beside what they should be, and what was computed instead where that is found.
Found described(size_t at, const std::vector<int>& slots, const std::vector<std::string>& inputs, const Verdict& verdict, Stage& stage, int64_t until_ns) {
  const task::Task& task = stage.task();
  Found found{{fmt::format("at {}, {} inputs: {}", task::bindings_text(stage.bindings()), inputs[at], name_of(verdict.kind)), verdict.reason, true}, true};
  for (size_t output = 0; output < task.outputs.size(); ++output) {
    WrongOutput wrong = stage.beside(slots[at], output, std::span(slots).first(at));
    if (std::find(wrong.wrong.begin(), wrong.wrong.end(), true) == wrong.wrong.end()) continue;
    wrong.instead = stage.instead(slots[at], output, wrong, until_ns);
    found.instead = found.instead || wrong.instead;
    found.said.detail += fmt::format("\n{}: {}", task.outputs[output].first, kind_of_error(wrong));
    if (!found.said.clue) found.said.clue = Clue{task.outputs[output].first, inputs[at], "", looks_like(wrong)};
  }
  return found;
}

/// What was drawn for the slots is played, blocks in every order; nothing where the kernel is right, or too slow to tell. `inputs`: how each was drawn.
Result<std::optional<Found>> fails_on(const std::vector<int>& slots, const std::vector<std::string>& inputs, Stage& stage, target::Session& session, const Time& time) {
  base::Rng rng(base::secret_seed());
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) {
    calls.push_back(stage.call(slot));
    if (calls.size() == 1) continue;
    calls.back().order = target::kBlockOrders[rng.below(std::size(target::kBlockOrders))];
    calls.back().order_seed = rng.next_u64();
  }
  const std::chrono::nanoseconds given = time.left();
  const target::BatchOutcome outcome = session.run(calls, given);
  if (outcome.how == target::BatchOutcome::How::kDeadline && given < kSaysItDoesNotFinish) return std::optional<Found>();
  if (outcome.how != target::BatchOutcome::How::kDone)
    return std::optional(Found{{fmt::format("at {}: {}", task::bindings_text(stage.bindings()), verdict_of(outcome).reason), outcome.output, true}});
  std::vector<std::pair<size_t, Verdict>> wrong;
  for (size_t i = 0; i < slots.size(); ++i)
    if (Verdict verdict = stage.check(slots[i]); !verdict.accepted()) wrong.emplace_back(i, std::move(verdict));
  if (wrong.empty()) return std::optional<Found>();
  const auto in_words = [&](const std::pair<size_t, Verdict>& one) {
    const int64_t until = std::min(time.until_ns, base::system_clock().now_ns() + std::chrono::nanoseconds(kHoldingAgainst).count());
    return described(one.first, slots, inputs, one.second, stage, until);
  };
  size_t shown = wrong.front().first;
  Found found = in_words(wrong.front());
  std::ranges::stable_partition(wrong, [&](const auto& one) { return inputs[one.first] == name_of(Family::kNormal); });
  for (size_t i = 0; i < wrong.size() && i < kHeldAgainst && !found.instead && time.is_for_instead(); ++i)
    if (Found other = in_words(wrong[i]); other.instead) found = std::move(other), shown = wrong[i].first;
  if (calls[shown].order != target::BlockOrder::kUsual && !time.is_up() && is_right_in_usual_order(stage, session, slots[shown], time.left()))
    found.said.detail += fmt::format("\n{}", kHangsOnOrder);
  return std::optional(std::move(found));
}

/// One call a family at one shape, then inputs of other kinds; nothing where the kernel is right there.
Result<std::optional<Found>> fails_at(const kernel::Kernel& kernel, const task::Bindings& bindings, std::span<const Family> families, Loader& loader, const Time& time) {
  StageOptions options;
  const auto tensors = static_cast<int>(loader.task().inputs.size() + loader.task().outputs.size());
  options.calls = options.contents = std::clamp(kMostEdgeRegions / tensors, 1, static_cast<int>(families.size()));
  options.edge = true;
  options.threads = target::cpu_info().threads;
  options.card = loader.card();
  auto made = Stage::create(loader.task(), bindings, options);
  if (!made) {
    if (made.error().code == ErrorCode::kInput) return std::optional<Found>();
    return tl::unexpected(made.error());
  }
  Stage& stage = **made;
  HONE_TRY(const Loaded loaded, loader.load(kernel, stage));
  if (!loaded.session) return std::optional(Found{{fmt::format("at {}: {}", task::bindings_text(bindings), loaded.verdict.reason), loaded.verdict.detail, true}});
  std::vector<int> slots;
  std::vector<std::string> inputs;
  for (int slot = 0; slot < stage.calls(); ++slot) {
    const Family family = families[static_cast<size_t>(slot)];
    stage.draw(stage.content_of(slot), family, stage.telling_seed(family));
    slots.push_back(slot);
    inputs.emplace_back(name_of(family));
  }
  HONE_TRY(auto found, fails_on(slots, inputs, stage, *loaded.session, time));
  if (found || time.is_up()) return found;
  slots.clear(), inputs.clear();
  const bool denormals = !loader.card() && !loader.emulates(kernel);
  for (size_t way = 0; way < kOtherWays; ++way) {
    const auto slot = static_cast<int>(slots.size());
    if (slot == stage.calls() || !draw_otherwise(stage, stage.content_of(slot), way, kernel, denormals)) continue;
    slots.push_back(slot);
    inputs.emplace_back(std::array{"sorted or repeating", "telling", "lines of one kind in"}[way]);
  }
  return fails_on(slots, inputs, stage, *loaded.session, time);
}

bool says_itself(VerdictKind kind) { return kind == VerdictKind::kDoesNotCompile || kind == VerdictKind::kDoesNotApply; }

std::string bounded_report(const std::string& text) {
  return text.size() > kReportShown ? fmt::format("{}\n…", std::string_view(text).substr(0, kReportShown)) : text;
}

Explanation told_of_wrong(const std::optional<Clue>& clue) {
  if (!clue) return {"answers are wrong on secret inputs", "", false};
  std::string reason = fmt::format("output {} is wrong", clue->output);
  reason += clue->workload.empty() ? " at a secret shape" : fmt::format(" at workload {}", clue->workload);
  if (!clue->inputs.empty()) reason += fmt::format(", on secret inputs ({})", clue->inputs);
  return {std::move(reason), clue->looks.empty() ? "" : fmt::format("{}: {}", clue->output, clue->looks), false};
}

}  // namespace

Explanation told(const Verdict& verdict) {
  if (says_itself(verdict.kind)) return {verdict.reason, verdict.detail, true};
  switch (verdict.kind) {
    case VerdictKind::kAccepted: return {};
    case VerdictKind::kWrong: return told_of_wrong(verdict.clue);
    case VerdictKind::kLessAccurate:
      return {verdict.accuracy ? fmt::format("the error of output {} is {:.3g} times what it may be, on {} inputs", verdict.accuracy->output,
                                             verdict.accuracy->candidate / std::max(verdict.accuracy->bound, 1e-300), verdict.accuracy->family)
                               : "errors are larger than they may be", "", false};
    case VerdictKind::kOutOfBounds: return {"it touches memory outside its tensors, on secret inputs", "", false};
    case VerdictKind::kDoesNotFinish: return {"it does not finish, on secret inputs", "", false};
    case VerdictKind::kNotRepeatable: return {"two calls on equal inputs give different answers", "", false};
    case VerdictKind::kCheating: return {"it does what no kernel has to do: system calls, or telling when it is watched", "", false};
    default: return {"it ends before it is done, on secret inputs", "", false};
  }
}

Result<Explanation> explain(const kernel::Kernel& kernel, const Verdict& verdict, Loader& loader, const std::set<task::Bindings>& secret, Spent& spent,
                            std::chrono::nanoseconds within) {
  const base::Span span("explain a refusal");
  const Explanation plain = told(verdict);
  if (says_itself(verdict.kind) || verdict.accepted()) return plain;
  const Stopwatch watch(spent.verify);
  const Time time(within);
  const std::vector<task::Bindings> shapes = own_shapes(kernel, loader, secret);
  const std::vector<Family> families = families_of(loader.task(), verdict);
  std::optional<Found> found;
  task::Bindings where;
  size_t tried = 0;
  // The first that shows it, unless a later one also says what was computed instead.
  for (const task::Bindings& bindings : shapes) {
    if (time.is_up() || (found && (found->instead || !time.is_for_instead()))) break;
    HONE_TRY(auto here, fails_at(kernel, bindings, families, loader, time));
    ++tried;
    if (!here || (found && !here->instead)) continue;
    found = std::move(here), where = bindings;
    if (!found->answers) break;
  }
  const auto not_looked_into = [&](std::string text, std::string_view what) {
    return what.empty() ? text : fmt::format("{}{}Not looked into in the {:.0f} s that an explanation may take: {}.", text, text.empty() ? "" : "\n", std::chrono::duration<double>(within).count(), what);
  };
  if (found) {
    // Where it fails a sanitizer may name the line; a wrong answer too may come of a step out of bounds, unless it is known what it comes of. A card has no such build.
    const bool wanted = !loader.card() && !found->instead;
    if (wanted && !time.is_up()) {
      HONE_TRY(const Sanitized watched, sanitize(kernel, {&where, 1}, loader, spent, time.until_ns));
      const std::string finding = first_finding(watched.verdict.detail);
      if (!finding.empty()) found->said.detail = fmt::format("built with sanitizers: {}\n{}\n{}", finding, finding_frames(watched.verdict.detail), found->said.detail);
    }
    found->said.detail = not_looked_into(bounded_report(found->said.detail), wanted && time.is_up() ? "all that sanitizers might say" : "");
    return std::move(found->said);
  }
  // What only shows under sanitizers.
  int sanitized = 0;
  if (!loader.card() && !shapes.empty() && !time.is_up()) {
    HONE_TRY(const Sanitized watched, sanitize(kernel, shapes, loader, spent, time.until_ns));
    sanitized = watched.shapes;
    if (const std::string finding = first_finding(watched.verdict.detail); !watched.verdict.accepted() && !finding.empty())
      return Explanation{"built with sanitizers: " + finding, bounded_report(finding_frames(watched.verdict.detail)), true};
  }
  std::string detail = plain.detail.empty() ? "" : plain.detail + "\n";
  detail += fmt::format("It did not show again on {} shapes and inputs made to explain it", tried);
  // Without a clue, what it mostly is.
  detail += verdict.clue ? ": it is rare, or needs other extents." : ": mind odd and large extents, large and special values, sums of many terms.";
  std::string left;
  if (time.is_up() && tried < shapes.size()) left = fmt::format("{} further shapes", shapes.size() - tried);
  if (time.is_up() && !loader.card() && sanitized < static_cast<int>(shapes.size())) left += fmt::format("{}sanitizers on {} shapes", left.empty() ? "" : ", ", static_cast<int>(shapes.size()) - sanitized);
  return Explanation{plain.reason, not_looked_into(std::move(detail), left), false};
}

}  // namespace hone::evaluate
