#include "hone/diagnose/profile/card.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/evaluate/launch_case.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/card_peaks.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/cuda_tools.h"

namespace hone::diagnose {
namespace {

constexpr const char* kVariable = "HONE_NCU";
/// Of one run: a constant, and for each kernel.
constexpr std::chrono::seconds kDeadline{120}, kDeadlineEach{20};
/// Inputs of one case are drawn to disk, and ncu copies outputs aside: larger workloads are not counted (bytes).
constexpr double kMostInputs = 4e9;
/// Kernels whose variants are made and timed together.
constexpr size_t kVariedAtOnce = 16;

void add_reading(const CardReading& reading, const target::CardInfo& card, Metrics& metrics) {
  add_card_code(reading.build, reading.plan, target::arch_limits(card.arch), reading.cost, metrics);
  if (reading.launches.empty()) {
    for (const CardMetric& metric : card_metrics()) metrics.absent(metric.name, reading.problem);
    if (reading.variants) add_variants(*reading.variants, card, reading.plan, reading.cost, metrics);
    return;
  }
  add_counters(reading.launches, metrics);
  add_traffic(reading.cost, metrics);
}

}  // namespace

Result<std::vector<target::LaunchTensor>> CardCounters::tensors_of(const CardCase& one) {
  const std::string key = one.task->hash() + " " + task::bindings_text(one.bindings);
  if (const auto known = drawn_.find(key); known != drawn_.end()) return known->second;
  if (!inputs_) {
    HONE_TRY(auto folder, base::ScratchDirectory::create("inputs"));
    inputs_.emplace(std::move(folder));
  }
  HONE_TRY(const auto tensors, evaluate::write_tensors(*one.task, one.bindings, evaluate::Family::kNormal, 1, inputs_->path(),
                                                       fmt::format("{}", drawn_.size())));
  return drawn_.emplace(key, tensors).first->second;
}

Status CardCounters::count(std::span<const CardCase> cases, std::vector<CardReading>& readings) {
  const auto nobody = [&](const std::string& why) {
    for (CardReading& reading : readings) reading.problem = why;
    return Status{};
  };
  if (!unavailable_.empty()) return nobody(unavailable_);
  const auto ncu = target::find_card_tool("ncu", kVariable);
  if (!ncu) return nobody(unavailable_ = "nothing was counted: " + ncu.error().message);
  std::vector<target::LaunchJob> jobs;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (readings[i].cost.bytes_read > kMostInputs) return nobody("nothing was counted: the inputs are too large to be drawn once more for the profiler");
    auto tensors = tensors_of(cases[i]);
    if (!tensors && tensors.error().code == ErrorCode::kExhausted) return nobody("nothing was counted: " + tensors.error().message);
    if (!tensors) return tl::unexpected(tensors.error());
    jobs.push_back({readings[i].build, readings[i].plan, std::move(*tensors)});
  }
  std::vector<std::string> tool = {ncu->string()};
  for (std::string& option : ncu_options()) tool.push_back(std::move(option));
  HONE_TRY(const target::Launched launched,
           target::launch_under(card_, tool, jobs, true, kDeadline + static_cast<int>(cases.size()) * kDeadlineEach));
  const auto counted = read_ncu_csv(launched.exit.out + "\n" + launched.exit.err);
  if (!counted) {
    const std::string why = "nothing was counted: " + counted.error().message;
    // Permission does not come by asking again.
    if (why.find("ERR_NVGPUCTRPERM") != std::string::npos) unavailable_ = why;
    return nobody(why);
  }
  // Launches come in the order of the jobs. A job that failed has as many as it got to, which nobody counts.
  size_t next = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    const size_t launches = readings[i].plan.launches.size();
    if (!launched.problems[i].empty() || next + launches > counted->size()) {
      for (size_t rest = i; rest < cases.size(); ++rest)
        readings[rest].problem = "nothing was counted: " + (launched.problems[i].empty() ? "launches are missing in what ncu says" : launched.problems[i]);
      break;
    }
    readings[i].launches.assign(counted->begin() + static_cast<std::ptrdiff_t>(next), counted->begin() + static_cast<std::ptrdiff_t>(next + launches));
    next += launches;
  }
  return {};
}

/// Kernels that were not counted, with stages left out. One of which no variants can be had is none the worse for it: it keeps
/// code and plan.
Status CardCounters::vary(std::span<const CardCase> cases, std::vector<CardReading>& readings) {
  std::vector<size_t> which;
  for (size_t i = 0; i < cases.size(); ++i)
    if (readings[i].launches.empty() && readings[i].cost.bytes_read <= kMostInputs) which.push_back(i);
  // A dozen texts a kernel: not all of them at once.
  for (size_t first = 0; first < which.size(); first += kVariedAtOnce)
    HONE_TRY_VOID(vary(std::span(which).subspan(first, std::min(kVariedAtOnce, which.size() - first)), cases, readings));
  return {};
}

Status CardCounters::vary(std::span<const size_t> which, std::span<const CardCase> cases, std::vector<CardReading>& readings) {
  std::vector<Result<Variants>> made(which.size(), Result<Variants>(tl::unexpect, Error{}));
  evaluate::parallel_for(static_cast<int64_t>(which.size()), target::cpu_info().threads, [&](int64_t k) {
    const CardCase& one = cases[which[static_cast<size_t>(k)]];
    made[static_cast<size_t>(k)] = make_variants(*toolchain_, one.kernel, *one.task, one.bindings);
  });
  const auto without = [&](size_t i, const Error& why) { readings[i].problem += "; no variants: " + why.message; };
  std::vector<VariantCase> to_time;
  std::vector<size_t> timed;
  for (size_t k = 0; k < which.size(); ++k) {
    CardReading& reading = readings[which[k]];
    if (!made[k]) {
      without(which[k], made[k].error());
    } else if (auto tensors = tensors_of(cases[which[k]])) {
      to_time.push_back({&*made[k], {reading.build, reading.plan, std::move(*tensors)}});
      timed.push_back(which[k]);
    } else {
      without(which[k], tensors.error());
    }
  }
  if (to_time.empty()) return {};
  HONE_TRY(auto variants, time_variants(card_, to_time));
  for (size_t k = 0; k < timed.size(); ++k) {
    if (variants[k]) readings[timed[k]].variants = std::move(*variants[k]);
    else without(timed[k], variants[k].error());
  }
  return {};
}

Result<std::vector<CardReading>> CardCounters::read(std::span<const CardCase> cases) {
  std::vector<CardReading> readings(cases.size());
  std::vector<Status> built(cases.size());
  evaluate::parallel_for(static_cast<int64_t>(cases.size()), target::cpu_info().threads, [&](int64_t i) {
    const CardCase& one = cases[static_cast<size_t>(i)];
    CardReading& reading = readings[static_cast<size_t>(i)];
    built[static_cast<size_t>(i)] = [&]() -> Status {
      HONE_TRY(target::BuildOutcome outcome, toolchain_->build(one.kernel, *one.task, one.bindings, {.mix = true, .pieces = true}));
      if (const auto* failure = std::get_if<target::BuildFailure>(&outcome)) return fail(ErrorCode::kInput, "it does not build: " + failure->reason);
      reading.build = std::move(std::get<target::Build>(outcome));
      HONE_TRY(reading.plan, target::plan_of(one.kernel, reading.build, *one.task, one.bindings, target::card_limits(card_)));
      HONE_TRY(const task::ConcreteGraph graph, task::instantiate(one.task->primitive, one.bindings));
      reading.cost = task::minimal_cost(graph);
      return {};
    }();
  });
  for (const Status& status : built) HONE_TRY_VOID(status);
  HONE_TRY_VOID(count(cases, readings));
  HONE_TRY_VOID(vary(cases, readings));
  return readings;
}

Result<std::vector<Profile>> profile_card(CardCounters& counters, const kernel::Kernel& kernel, const task::Task& task,
                                          const std::vector<evaluate::Conditions>& times) {
  std::vector<CardCase> cases;
  for (const evaluate::Conditions& on : times) cases.push_back({kernel, &task, on.bindings});
  HONE_TRY(const std::vector<CardReading> readings, counters.read(cases));
  std::vector<Profile> all;
  for (size_t i = 0; i < times.size(); ++i) {
    Profile& profile = all.emplace_back();
    profile.workload = times[i].workload;
    profile.bindings = times[i].bindings;
    for (const task::Workload& w : task.workloads)
      if (w.name == profile.workload) profile.weight = w.weight;
    add_times(times[i], nullptr, profile.metrics);
    add_reading(readings[i], counters.card(), profile.metrics);
  }
  return all;
}

Result<std::vector<Metrics>> profile_counted(CardCounters& counters, std::span<const CardCase> cases) {
  HONE_TRY(const std::vector<CardReading> readings, counters.read(cases));
  const target::CpuPeaks peaks = target::card_peaks(counters.card());
  std::vector<Metrics> all(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    add_reading(readings[i], counters.card(), all[i]);
    const double compute_ns = target::compute_ns(readings[i].cost, cases[i].task->track, peaks);
    if (readings[i].variants) add_light(readings[i].cost, readings[i].variants->whole_ns, target::card_memory_peak(counters.card()), compute_ns, all[i]);
    else add_light_of_counters(readings[i].cost, compute_ns, all[i]);
  }
  return all;
}

}  // namespace hone::diagnose
