#include "hone/engine/memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/engine/recall.h"

namespace hone::engine {
namespace {

using archive::Belief;
using archive::Context;
using archive::Lesson;
using nlohmann::json;

/// Contexts beyond this distance, or behind so many nearer ones, are not asked.
constexpr double kFar = 0.4;
constexpr size_t kContexts = 3;
/// Another device or compiler makes lessons this much less certain.
constexpr double kOtherDevice = 0.15, kOtherToolchain = 0.05;
/// Kernels looked at before the search begins, of one source at most kOfASource; each was within this share of its run's best.
constexpr size_t kFirst = 5, kOfASource = 3;
constexpr double kGood = 0.8;
/// Measurements of one source that one context hands to a tuner.
constexpr size_t kMeasurements = 100;
/// Evidence of the finals: numbered behind all evaluations.
constexpr int64_t kFinals = 1'000'000;

std::string text_name(const kernel::Kernel& kernel) { return "text: " + base::content_hash(kernel.source); }

struct Held {
  Lesson lesson;
  Belief belief;
};

/// A context that is near enough, with what is believed of each of its lessons.
struct Near {
  Context context;
  std::string id;
  double distance = 0;
  double best = 0;               ///< speedup
  std::vector<Held> held;        ///< best first
};

double best_of(const std::vector<Held>& held) {
  // One lucky measurement is no record: what was seen twice sets the mark, where there is such.
  double sure = 0, any = 0;
  for (const Held& h : held) {
    any = std::max(any, h.belief.speedup);
    if (h.lesson.evidence.size() > 1) sure = std::max(sure, h.belief.speedup);
  }
  return sure > 0 ? sure : any;
}

double share_of(const Held& held, const Near& near) { return near.best > 0 ? std::min(1.0, held.belief.speedup / near.best) : 0; }

/// What the archive holds of a context, but for what `run` itself put there (before it was killed).
Result<Near> look_into(archive::Store& store, Context context, double distance, const std::string& run, int64_t now, uint64_t shuffle) {
  Near near;
  near.id = context.id();
  near.distance = distance;
  near.context = std::move(context);
  HONE_TRY(std::vector<Lesson> lessons, store.lessons(near.id));
  // Speedups over different references do not compare: those over the one that most trials have are used.
  std::map<std::string, int> references;
  for (Lesson& lesson : lessons) {
    std::erase_if(lesson.evidence, [&](const archive::Evidence& e) { return e.run == run; });
    for (const archive::Evidence& e : lesson.evidence) references[e.reference] += e.accepted && !e.carried ? 1 : 0;
  }
  if (references.empty()) return near;
  const std::string reference = std::max_element(references.begin(), references.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  for (Lesson& lesson : lessons)
    if (const auto belief = archive::belief_of(lesson, now, reference); belief && !belief->retracted) near.held.push_back({std::move(lesson), *belief});
  // What a second more of age makes of it is nobody's business.
  for (Held& held : near.held) held.belief.confidence = std::round(held.belief.confidence * 1e3) / 1e3;
  if (shuffle != 0) {
    base::Rng rng(shuffle, 0x73687566);
    for (size_t i = near.held.size(); i > 1; --i) {
      Held& one = near.held[i - 1];
      Held& other = near.held[rng.below(i)];
      std::swap(one.belief, other.belief);
      std::swap(one.lesson.evidence, other.lesson.evidence);
    }
  }
  std::stable_sort(near.held.begin(), near.held.end(), [](const Held& a, const Held& b) { return a.belief.speedup > b.belief.speedup; });
  near.best = best_of(near.held);
  return near;
}

/// `config` said with the tunables of `header`: by name, the nearest value where there is not the same, the default where
/// there is no such tunable. Nothing where the outcome is not allowed.
std::optional<kernel::Config> transferred(const kernel::Config& config, const kernel::Header& header, const kernel::Limits& limits) {
  kernel::Config here;
  for (const kernel::Tunable& tunable : header.tunables) {
    const auto there = config.find(tunable.name);
    int64_t value = tunable.values.front();
    if (there != config.end()) {
      const auto off = [&](int64_t v) { return std::abs(static_cast<double>(v) - static_cast<double>(there->second)); };
      value = *std::min_element(tunable.values.begin(), tunable.values.end(), [&](int64_t a, int64_t b) { return off(a) < off(b); });
    }
    here[tunable.name] = value;
  }
  return kernel::allowed(header, here, limits).value_or(false) ? std::optional(std::move(here)) : std::nullopt;
}

search::Recollection recollection_of(const Near& near, const std::string& source) {
  std::vector<const Held*> all;
  for (const Held& held : near.held)
    if (held.lesson.source == source) all.push_back(&held);
  search::Recollection recollection;
  const size_t count = std::min(all.size(), kMeasurements);
  for (size_t i = 0; i < count; ++i) {
    const Held& held = *all[i * all.size() / count];  // from the best to the worst alike
    recollection.configs.push_back(held.lesson.config);
    recollection.costs.push_back(held.belief.accepted && held.belief.speedup > 0 ? std::optional(1 / held.belief.speedup) : std::nullopt);
  }
  return recollection;
}

}  // namespace

RunMemory::RunMemory(const task::Task& task, Place place, std::vector<search::Seed> seeds, kernel::Limits limits)
    : task_(task), place_(std::move(place)), seeds_(std::move(seeds)), limits_(std::move(limits)) {
  std::map<std::string, int> used;
  for (const search::Seed& seed : seeds_) {
    if (names_.contains(seed.kernel.source)) continue;
    // A pattern writes another text for each task: its name and what sets the variant apart carry over.
    std::string name = seed.kernel.author.starts_with("pattern:") ? fmt::format("{}: {}", seed.pattern, seed.action) : text_name(seed.kernel);
    if (const int before = used[name]++; before > 0) name += fmt::format(" #{}", before + 1);
    names_[seed.kernel.source] = std::move(name);
  }
}

std::string RunMemory::source_of(const kernel::Kernel& kernel) const {
  const auto known = names_.find(kernel.source);
  return known == names_.end() ? text_name(kernel) : known->second;
}

Result<Context> RunMemory::context() const {
  if (context_) return *context_;
  json workloads = json::array();
  for (const task::Workload& w : task_.workloads) workloads.push_back({{"bindings", w.bindings}, {"weight", w.weight}});
  Context context{place_.target, place_.device, place_.toolchain, task_.name, task_.hash(), base::canonical_json(workloads), {}};
  HONE_TRY(context.signature, archive::signature_of(task_));
  context_ = context;
  return context;
}

Result<std::optional<event::Recalled>> RunMemory::recall(archive::Store& store, const std::string& run, int64_t now, uint64_t shuffle) const {
  HONE_TRY(const Context here, context());
  HONE_TRY(std::vector<Context> contexts, store.contexts(place_.target));
  std::vector<std::pair<double, Context>> order;
  for (Context& there : contexts) {
    double distance = archive::distance(here.signature, there.signature);
    if (there.device != here.device) distance += kOtherDevice;
    if (there.toolchain != here.toolchain) distance += kOtherToolchain;
    if (distance <= kFar) order.emplace_back(distance, std::move(there));
  }
  const std::string own = here.id();
  // The very same context first: a signature does not tell everything apart.
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return std::pair(a.second.id() != own, a.first) < std::pair(b.second.id() != own, b.first);
  });
  std::vector<Near> nearest;
  for (auto& [distance, there] : order) {
    if (nearest.size() == kContexts) break;
    HONE_TRY(Near near, look_into(store, std::move(there), distance, run, now, shuffle));
    if (near.best > 0) nearest.push_back(std::move(near));
  }

  struct Offer {
    double value = 0;
    const Near* near = nullptr;
    const Held* held = nullptr;
  };
  std::vector<Offer> offers;
  for (const Near& near : nearest)
    for (const Held& held : near.held)
      if (const double share = share_of(held, near); held.belief.accepted && share >= kGood)
        offers.push_back({share * held.belief.confidence * (1 - near.distance) * (near.id == own ? 2 : 1), &near, &held});
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.value > b.value; });

  event::Recalled recalled;
  std::map<std::string, size_t> of_source;
  std::set<std::pair<std::string, kernel::Config>> offered;
  for (const Offer& offer : offers) {
    if (recalled.first.size() == kFirst) break;
    const Lesson& lesson = offer.held->lesson;
    if (of_source[lesson.source] == kOfASource) continue;
    event::Recalled::First first;
    first.source = lesson.source;
    first.lesson = lesson.id();
    first.share = share_of(*offer.held, *offer.near);
    first.confidence = offer.held->belief.confidence;
    first.task = offer.near->context.task;
    first.elsewhere = offer.near->id != own;
    std::optional<kernel::Config> config;
    const auto seed = std::find_if(seeds_.begin(), seeds_.end(), [&](const search::Seed& s) { return source_of(s.kernel) == lesson.source; });
    if (seed != seeds_.end()) {
      config = transferred(lesson.config, seed->kernel.header, limits_);
    } else if (lesson.source.starts_with("text: ")) {
      // Not a pattern's: the text itself, where its plan fits this task.
      HONE_TRY(const archive::KernelRow row, store.kernel(lesson.kernel));
      const auto kernel = kernel_from(row);
      const bool fits = kernel && !seeds_.empty() && kernel->header.language == seeds_.front().kernel.header.language &&
                        std::all_of(task_.workloads.begin(), task_.workloads.end(), [&](const task::Workload& w) {
                          return kernel::bind(*kernel, task_, w.bindings, limits_).has_value();
                        });
      if (!fits) continue;
      config = kernel->config;
      first.text = kernel->source;
      first.author = kernel->author;
    }
    if (!config || !offered.insert({lesson.source, *config}).second) continue;
    ++of_source[lesson.source];
    first.config = *config;
    recalled.first.push_back(std::move(first));
  }

  for (const Near& near : nearest)
    recalled.contexts.push_back({near.context.task, near.context.task_hash, near.distance, static_cast<int>(near.held.size())});
  for (const search::Seed& seed : seeds_) {
    const std::string name = source_of(seed.kernel);
    event::Recalled::Known known;
    known.source = name;
    for (const Near& near : nearest) {
      search::Recollection recollection = recollection_of(near, name);
      if (recollection.configs.empty()) continue;
      // The nearest context that knows the source says how far it got.
      if (!known.share) {
        const auto top = std::find_if(near.held.begin(), near.held.end(), [&](const Held& held) { return held.lesson.source == name; });
        known.share = share_of(*top, near);
        if (top->belief.accepted) known.best = transferred(top->lesson.config, seed.kernel.header, limits_);
      }
      known.recollections.push_back(std::move(recollection));
    }
    if (!known.recollections.empty()) recalled.known.push_back(std::move(known));
  }
  return recalled.first.empty() && recalled.known.empty() ? std::nullopt : std::optional(std::move(recalled));
}

search::Memory RunMemory::take(const event::Recalled& recalled) {
  search::Memory memory;
  std::map<std::string, const search::Seed*> by_name;
  for (const search::Seed& seed : seeds_) by_name.try_emplace(source_of(seed.kernel), &seed);
  for (const event::Recalled::First& first : recalled.first) {
    search::Seed seed;
    if (const auto known = by_name.find(first.source); known != by_name.end()) {
      seed = *known->second;
    } else if (first.text) {
      auto kernel = kernel::parse_kernel(*first.text, "recalled kernel");
      if (!kernel) continue;
      seed.kernel = std::move(*kernel);
      seed.kernel.author = first.author.value_or("");
      seed.pattern = seed.kernel.header.pattern;
      seed.action = "from the archive";
    } else {
      continue;
    }
    seed.kernel.config = first.config;
    promises_.push_back({first.lesson, seed.kernel.hash(), first.share, first.elsewhere});
    memory.first.push_back({std::move(seed), fmt::format("{:.2f} of the best on {}", first.share, first.task)});
  }
  for (const event::Recalled::Known& known : recalled.known) {
    const auto seed = by_name.find(known.source);
    if (seed == by_name.end()) continue;
    search::Memory::Known one;
    one.source = seed->second->kernel.source;
    if (known.share) one.share = *known.share;
    one.best = known.best;
    one.recollections = known.recollections;
    memory.known.push_back(std::move(one));
  }
  return memory;
}

void RunMemory::observe(const kernel::Kernel& kernel, bool accepted, double score) { scores_[kernel.hash()] = accepted ? score : 0; }

Status RunMemory::keep(archive::Store& store, const std::string& run, int64_t n, const search::Proposal& proposal, bool accepted,
                       double score, const std::string& reference, int64_t now) const {
  HONE_TRY(const Context here, context());
  Lesson lesson;
  lesson.context = here.id();
  lesson.source = source_of(proposal.kernel);
  lesson.pattern = proposal.kernel.header.pattern;
  lesson.config = proposal.kernel.config;
  lesson.kernel = proposal.kernel.hash();
  HONE_TRY_VOID(store.put_lesson(here, lesson));
  archive::Evidence evidence;
  evidence.run = run;
  evidence.n = n;
  evidence.unix_ms = now;
  evidence.reference = reference;
  evidence.expected = proposal.expected;
  evidence.accepted = accepted;
  evidence.actual = accepted ? score : 0;
  return store.put_evidence(lesson.id(), evidence);
}

Status RunMemory::close(archive::Store& store, const std::string& run, const std::vector<Finalist>& finalists,
                        const std::string& reference, int64_t now) const {
  for (size_t i = 0; i < finalists.size(); ++i) {
    search::Proposal again;
    again.kernel = finalists[i].kernel;
    HONE_TRY_VOID(keep(store, run, kFinals + static_cast<int64_t>(i), again, true, finalists[i].score, reference, now));
  }
  if (finalists.empty()) return {};
  for (size_t i = 0; i < promises_.size(); ++i) {
    const Promise& promise = promises_[i];
    const auto score = scores_.find(promise.kernel);
    if (!promise.elsewhere || score == scores_.end()) continue;
    archive::Evidence evidence;
    evidence.run = run;
    evidence.n = kFinals + static_cast<int64_t>(i);
    evidence.unix_ms = now;
    evidence.reference = finalists.front().kernel.hash();
    evidence.expected = promise.share;
    evidence.accepted = score->second > 0;
    evidence.actual = score->second / finalists.front().score;
    evidence.carried = true;
    HONE_TRY_VOID(store.put_evidence(promise.lesson, evidence));
  }
  return {};
}

}  // namespace hone::engine
