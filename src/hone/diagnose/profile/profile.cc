#include "hone/diagnose/profile/profile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/diagnose/profile/code.h"
#include "hone/diagnose/profile/remarks.h"
#include "hone/evaluate/loader.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/cpu.h"

namespace hone::diagnose {

void add_times(const evaluate::Conditions& times, const target::CpuPeaks* peaks, Metrics& metrics) {
  const double cold = times.cold_ns;
  if (cold <= 0) {
    for (const char* name : {"light", "memory_light", "hot_share", "thread_efficiency"}) metrics.absent(name, "it could not be timed");
    return;
  }
  const double bytes = times.cost.bytes_read + times.cost.bytes_written;
  const auto share = [](double light, const char* about) { return light > 1 ? fmt::format("{}; {}", about, target::kAboveLight) : about; };
  const double bound = std::max(times.memory_ns, times.compute_ns);
  metrics.measured("time_ns", cold, times.rounds > 0 ? fmt::format("a call, caches cold, median of {}", times.rounds) : "a call, caches cold, median");
  // Others who use the machine only ever add to a time.
  if (const double least = times.cold_least_ns; least > 0) {
    metrics.measured("least_time_ns", least, "the least of those times");
    metrics.measured("least_time_bytes_per_ns", bytes / least, "least bytes of the task / that time");
    metrics.measured("least_time_light", bound / least, share(bound / least, "least time this machine could take / that time"));
  }
  metrics.measured("memory_light", times.memory_ns / cold, share(times.memory_ns / cold, "time of a kernel that only moves the least bytes / time"));
  if (times.compute_ns > 0)
    metrics.modelled("compute_light", times.compute_ns / cold, share(times.compute_ns / cold, "least multiply-adds at the measured peak / time"));
  else
    metrics.absent("compute_light", "the task has no products to reckon with");
  metrics.measured("light", bound / cold, share(bound / cold, "least time this machine could take / time: the speed of light is 1"));
  metrics.measured("achieved_bytes_per_ns", bytes / cold, "least bytes of the task / time");
  if (peaks && peaks->copy > 0) metrics.measured("bandwidth_share", bytes / cold / peaks->copy, "of the measured copy peak");
  if (bytes > 0) metrics.modelled("write_share", times.cost.bytes_written / bytes, "of the least bytes");
  if (times.memory_stream_ns > 0 && times.memory_plain_ns > 0)
    metrics.measured("stream_store_gain", times.memory_plain_ns / times.memory_stream_ns,
                     "time of a plain copy of the task's bytes that stores through the caches / past them");
  else
    metrics.absent("stream_store_gain", "there is no copy of the task's bytes to time both ways");
  if (times.hot_ns > 0)
    metrics.measured("hot_share", std::min(1.0, times.hot_ns / cold), "time with the data in the caches as far as they hold it / time; 1 at the most: more is noise");
  else
    metrics.absent("hot_share", "it could not be timed");
  if (times.threads <= 1)
    metrics.absent("thread_efficiency", "one thread");
  else if (times.one_thread_ns <= 0)
    metrics.absent("thread_efficiency", "not timed on one thread");
  else
    metrics.measured("thread_efficiency", times.one_thread_ns / cold / times.threads,
                     fmt::format("speedup of {} threads over one, a thread", times.threads));
}

void add_counters(const evaluate::Conditions& times, Metrics& metrics) {
  const auto ratio = [&](const char* name, const char* part, const char* whole, const char* about) {
    const auto p = times.counters.find(part), w = times.counters.find(whole);
    if (p != times.counters.end() && w != times.counters.end() && w->second > 0)
      metrics.measured(name, p->second / w->second, about);
    else
      metrics.absent(name, times.counters_absent.empty() ? "this processor does not count it" : times.counters_absent);
  };
  ratio("instructions_per_cycle", "instructions", "cycles", "all threads, waiting for each other included");
  ratio("cache_miss_share", "cache_misses", "cache_references", "of what reaches the last-level cache");
  ratio("branch_miss_share", "branch_misses", "branches", "branches foreseen wrongly");
}

Result<std::vector<Profile>> profile_cpu(const kernel::Kernel& kernel, const task::Task& task,
                                         const std::vector<evaluate::Conditions>& times, const target::Build& build,
                                         const kernel::Limits& limits, bool remarks) {
  Metrics code;
  add_code(build, target::cpu_info().vector_bytes, code);
  if (remarks && !times.empty()) {
    const auto missed = missed_loops(kernel, times.front().bindings, build);
    if (missed)
      code.modelled("missed_loops", *missed, "loops of the kernel's own source that the compiler did not vectorise, by its remarks");
    else
      code.absent("missed_loops", missed.error().message);
  }
  const target::CpuPeaks peaks = target::cpu_peaks(times.empty() ? 0 : times.front().threads);
  std::vector<Profile> all;
  for (size_t i = 0; i < times.size(); ++i) {
    Profile& profile = all.emplace_back();
    profile.workload = times[i].workload;
    profile.bindings = times[i].bindings;
    for (const task::Workload& w : task.workloads)
      if (w.name == profile.workload) profile.weight = w.weight;
    add_times(times[i], &peaks, profile.metrics);
    add_counters(times[i], profile.metrics);
    HONE_TRY(const kernel::BoundPlan plan, kernel::bind(kernel, task, times[i].bindings, limits));
    HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, times[i].bindings));
    add_plan(plan, evaluate::tensor_bytes(graph), times[i].cost.bytes_read + times[i].cost.bytes_written, times[i].threads, profile.metrics);
    for (const Metric& metric : code.all()) profile.metrics.add(metric);
  }
  return all;
}

const Profile* most_to_win(const std::vector<Profile>& profiles) {
  const Profile* chosen = nullptr;
  double most = 0;
  for (const Profile& profile : profiles) {
    const double distance = -std::log(std::clamp(profile.metrics.get_or("light", 1), 1e-6, 1.0)) * profile.weight;
    if (!chosen || distance > most) chosen = &profile, most = distance;
  }
  return chosen;
}

}  // namespace hone::diagnose
