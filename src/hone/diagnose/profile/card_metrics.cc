#include "hone/diagnose/profile/card_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace hone::diagnose {
namespace {

using Launch = const LaunchCounters&;
using Over = CardMetric::Over;

constexpr double kSectorBytes = 32;

/// Stall reasons of a warp that is not issued, by what they mean here.
constexpr std::string_view kStalls[] = {"long_scoreboard", "short_scoreboard", "barrier",        "branch_resolving", "math_pipe_throttle",
                                        "mio_throttle",    "lg_throttle",      "tex_throttle",   "wait",             "selected",
                                        "not_selected",    "no_instruction",   "dispatch_stall", "drain",            "membar",
                                        "sleeping",        "imc_miss",         "misc",           "gmma"};
std::string stall_counter(std::string_view reason) { return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason); }

/// Of the time that warps spend on the way to an instruction.
template <class... Reasons>
double stalled(Launch l, Reasons... reasons) {
  double all = 0;
  for (const std::string_view reason : kStalls)
    if (const double value = l.get(stall_counter(reason)); !std::isnan(value)) all += value;
  return (l.get(stall_counter(reasons)) + ...) / all;
}

double percent(Launch l, std::string_view counter) { return l.get(counter) / 100; }
double or_none(double value) { return std::isnan(value) ? 0 : value; }
double largest(std::initializer_list<double> values) {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (const double value : values)
    if (!std::isnan(value)) most = std::isnan(most) ? value : std::max(most, value);
  return most;
}

/// Of the sectors that plain loads and copies into shared memory (cp.async, LDGSTS) touch, what was asked for. The counter of loads
/// counts the copies' sectors and requests too, but its bytes are those of plain loads; the copies' bytes have a counter of their own.
double used_of_loads(Launch l) {
  const double of_loads = percent(l, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct");
  const double of_copies = or_none(percent(l, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct"));
  const double all = l.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  if (!(all > 0) || of_copies <= 0) return of_loads;
  // Loads without a byte are all copies.
  if (!(of_loads > 0)) return of_copies;
  const double copied = std::min(1.0, or_none(l.get("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum")) / all);
  return (1 - copied) * of_loads + copied * of_copies;
}
double used_of_stores(Launch l) { return percent(l, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"); }

/// One word that a warp shares, or two, is no waste: nobody could ask for less.
double excess_sectors(Launch l) {
  struct Way {
    std::string_view op;
    double used;
  };
  double all = 0, unused = 0;
  for (const Way& way : {Way{"ld", used_of_loads(l)}, Way{"st", used_of_stores(l)}}) {
    const double sectors = l.get(fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", way.op));
    const double requests = l.get(fmt::format("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", way.op));
    if (std::isnan(sectors) || std::isnan(requests) || std::isnan(way.used)) return std::numeric_limits<double>::quiet_NaN();
    all += sectors;
    if (sectors > 2 * requests) unused += sectors * std::max(0.0, 1 - way.used);
  }
  return all > 0 ? unused / all : 0;
}

constexpr CardMetric kMetrics[] = {
    {"kernel_ns", "ns", "gpu__time_duration.sum", "gpu__time_duration", "time on the card under the profiler, caches cold", Over::kSum,
     [](Launch l) { return l.get("gpu__time_duration.sum"); }},
    {"sm_active_share", "share", "sm__cycles_active.avg sm__cycles_elapsed.max", "sm__cycles_active.avg / sm__cycles_elapsed.max",
     "mean share of the time that a multiprocessor has a block", Over::kTime,
     [](Launch l) { return std::min(1.0, l.get("sm__cycles_active.avg") / l.get("sm__cycles_elapsed.max")); }},
    {"sm_balance", "share", "sm__cycles_active.avg sm__cycles_active.max", "sm__cycles_active.avg / .max",
     "time of the mean multiprocessor over that of the busiest", Over::kTime,
     [](Launch l) { return l.get("sm__cycles_active.avg") / l.get("sm__cycles_active.max"); }},
    {"occupancy", "share", "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__warps_active / most",
     "warps on a multiprocessor while it has a block", Over::kTime,
     [](Launch l) { return percent(l, "sm__warps_active.avg.pct_of_peak_sustained_active"); }},
    {"occupancy_limit", "share", "sm__maximum_warps_per_active_cycle_pct", "sm__maximum_warps_per_active_cycle_pct",
     "warps that registers, shared memory and block size allow", Over::kTime,
     [](Launch l) { return percent(l, "sm__maximum_warps_per_active_cycle_pct"); }},
    {"issue_share", "share", "smsp__issue_active.avg.pct_of_peak_sustained_active", "smsp__issue_active",
     "cycles in which a scheduler issues", Over::kTime,
     [](Launch l) { return percent(l, "smsp__issue_active.avg.pct_of_peak_sustained_active"); }},
    {"lane_share", "share", "smsp__thread_inst_executed_per_inst_executed.ratio", "threads an instruction / 32",
     "lanes of a warp that take part in its instructions", Over::kTime,
     [](Launch l) { return l.get("smsp__thread_inst_executed_per_inst_executed.ratio") / 32; }},
    {"predicated_lane_share", "share", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "threads not switched off / 32",
     "lanes that take part and are not switched off by a predicate", Over::kTime,
     [](Launch l) { return l.get("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio") / 32; }},
    {"dram_share", "share", "dram__bytes.sum.pct_of_peak_sustained_elapsed", "dram__bytes of the peak", "of the memory's peak", Over::kTime,
     [](Launch l) { return percent(l, "dram__bytes.sum.pct_of_peak_sustained_elapsed"); }},
    {"dram_read_bytes", "bytes", "dram__bytes_read.sum", "dram__bytes_read", "read from memory", Over::kSum,
     [](Launch l) { return l.get("dram__bytes_read.sum"); }},
    {"dram_write_bytes", "bytes", "dram__bytes_write.sum", "dram__bytes_write", "written to memory", Over::kSum,
     [](Launch l) { return l.get("dram__bytes_write.sum"); }},
    {"l2_share", "share", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors of the peak", "of the second-level cache's peak",
     Over::kTime, [](Launch l) { return percent(l, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"); }},
    {"l2_read_bytes", "bytes", "lts__t_sectors_srcunit_tex_op_read.sum", "32 * lts__t_sectors_srcunit_tex_op_read",
     "read from the second-level cache by multiprocessors", Over::kSum,
     [](Launch l) { return kSectorBytes * l.get("lts__t_sectors_srcunit_tex_op_read.sum"); }},
    {"l2_hit_share", "share", "lts__t_sector_hit_rate.pct", "lts__t_sector_hit_rate", "of sectors asked of the second-level cache", Over::kTime,
     [](Launch l) { return percent(l, "lts__t_sector_hit_rate.pct"); }},
    {"l1_share", "share", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "l1tex__data_pipe_lsu_wavefronts of the peak",
     "of the peak of the first-level cache and shared memory", Over::kTime,
     [](Launch l) { return percent(l, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"); }},
    {"l1_read_bytes", "bytes", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "32 * l1tex__t_sectors…global_op_ld",
     "sectors that loads touch, each load counted", Over::kSum,
     [](Launch l) { return kSectorBytes * l.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"); }},
    {"load_sectors", "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
     "sectors / requests", "sectors of 32 bytes that a warp's load touches: 4 for 4-byte words side by side", Over::kTime,
     [](Launch l) {
       return l.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") / l.get("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
     }},
    {"store_sectors", "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
     "sectors / requests", "the same of stores", Over::kTime,
     [](Launch l) {
       return l.get("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") / l.get("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
     }},
    {"load_use_share", "share",
     "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct "
     "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
     "data bytes / 32 bytes of a sector", "of the sectors that loads and cp.async touch, what the warp asked for", Over::kTime,
     used_of_loads},
    {"store_use_share", "share", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "data bytes / 32 bytes of a sector",
     "the same of stores", Over::kTime, used_of_stores},
    {"excess_sector_share", "share", "", "mean of 1 - load_use_share and 1 - store_use_share by sectors, where a request touches more than two",
     "sectors of loads and stores that nobody asked for", Over::kTime, [](Launch l) { return excess_sectors(l); }},
    {"shared_conflict_share", "share", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
     "conflicts / wavefronts", "passes through shared memory that bank conflicts cost", Over::kTime,
     [](Launch l) {
       const double passes = l.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
       return passes > 0 ? std::min(1.0, l.get("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum") / passes) : passes;
     }},
    {"shared_share", "share", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__data_pipe_lsu_wavefronts.sum", "shared / all wavefronts",
     "shared memory's part of the first-level cache's work", Over::kTime,
     [](Launch l) { return l.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum") / l.get("l1tex__data_pipe_lsu_wavefronts.sum"); }},
    {"local_share", "share",
     "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum "
     "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
     "local / (local + global) sectors", "loads and stores of the threads' own memory, where registers spill", Over::kTime,
     [](Launch l) {
       const double local = l.get("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum") + l.get("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum");
       const double global = l.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") + l.get("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
       return local + global > 0 ? local / (local + global) : local;
     }},
    {"atomic_share", "share", "lts__t_sectors_op_atom.sum lts__t_sectors_op_red.sum lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum",
     "atom + red over all sectors", "atomic operations among what the second-level cache does", Over::kTime,
     [](Launch l) {
       const double atomic = l.get("lts__t_sectors_op_atom.sum") + l.get("lts__t_sectors_op_red.sum");
       return atomic / std::max(1.0, atomic + l.get("lts__t_sectors_op_read.sum") + l.get("lts__t_sectors_op_write.sum"));
     }},
    {"memory_stall_share", "share", "", "long_scoreboard + lg_throttle over all", "of warps' waiting: for global and local memory", Over::kTime,
     [](Launch l) { return stalled(l, "long_scoreboard", "lg_throttle"); }},
    {"queue_stall_share", "share", "", "lg_throttle over all", "of warps' waiting: for room in the queue to global and local memory", Over::kTime,
     [](Launch l) { return stalled(l, "lg_throttle"); }},
    {"shared_stall_share", "share", "", "short_scoreboard + mio_throttle over all", "of warps' waiting: for shared memory and special functions",
     Over::kTime, [](Launch l) { return stalled(l, "short_scoreboard", "mio_throttle"); }},
    {"barrier_stall_share", "share", "", "barrier over all", "of warps' waiting: for the other warps of the block", Over::kTime,
     [](Launch l) { return stalled(l, "barrier"); }},
    {"execution_stall_share", "share", "", "wait + math_pipe_throttle + branch_resolving + dispatch_stall + no_instruction over all",
     "of warps' waiting: for arithmetic, branches and instructions", Over::kTime,
     [](Launch l) { return stalled(l, "wait", "math_pipe_throttle", "branch_resolving", "dispatch_stall", "no_instruction"); }},
    {"ready_share", "share", "", "selected + not_selected over all", "of warps' time: issued, or ready and not chosen", Over::kTime,
     [](Launch l) { return stalled(l, "selected", "not_selected"); }},
    {"tensor_share", "share", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
     "sm__pipe_tensor_cycles_active", "of the matrix units' peak", Over::kTime,
     [](Launch l) {
       return largest({percent(l, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
                       percent(l, "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active")});
     }},
    {"arithmetic_share", "share",
     "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active "
     "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
     "largest of fma, alu, fp64, xu", "of the peak of the busiest of the plain arithmetic units", Over::kTime,
     [](Launch l) {
       return largest({percent(l, "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"),
                       percent(l, "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"),
                       percent(l, "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"),
                       percent(l, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active")});
     }},
    {"special_share", "share", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "sm__inst_executed_pipe_xu",
     "of the peak of the units for exp, log, sin, division and conversions", Over::kTime,
     [](Launch l) { return percent(l, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"); }},
};

}  // namespace

std::span<const CardMetric> card_metrics() { return kMetrics; }

std::vector<std::string> wanted_counters() {
  std::vector<std::string> all;
  const auto want = [&](std::string name) {
    if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
  };
  for (const CardMetric& metric : kMetrics)
    for (size_t begin = 0; begin < metric.counters.size();) {
      const size_t end = std::min(metric.counters.find(' ', begin), metric.counters.size());
      want(std::string(metric.counters.substr(begin, end - begin)));
      begin = end + 1;
    }
  for (const std::string_view reason : kStalls) want(stall_counter(reason));
  return all;
}

void add_counters(std::span<const LaunchCounters> launches, Metrics& metrics) {
  // Of several launches, which one takes the time: "part_2::multiply(float const*, …)" without what it is given.
  for (size_t i = 0; launches.size() > 1 && i < launches.size(); ++i)
    if (const double ns = launches[i].get("gpu__time_duration.sum"); std::isfinite(ns))
      metrics.measured(fmt::format("launch_{}_ns", i + 1), ns, launches[i].kernel.substr(0, launches[i].kernel.find('(')));
  for (const CardMetric& metric : kMetrics) {
    double sum = 0, weights = 0;
    for (const LaunchCounters& launch : launches) {
      const double value = metric.value(launch), weight = metric.over == Over::kSum ? 1 : std::max(1.0, or_none(launch.get("gpu__time_duration.sum")));
      if (!std::isfinite(value)) continue;
      sum += value * weight, weights += weight;
    }
    if (weights == 0)
      metrics.absent(metric.name, fmt::format("no launch has the counters: {}", metric.formula));
    else
      metrics.measured(metric.name, metric.over == Over::kSum ? sum : sum / weights, metric.about);
  }
}

void add_traffic(const task::Cost& cost, Metrics& metrics) {
  const auto ratio = [&](const char* name, const char* of, const char* about) {
    const auto bytes = metrics.get(of);
    if (bytes && cost.bytes_read > 0) metrics.measured(name, *bytes / cost.bytes_read, about);
    else metrics.absent(name, fmt::format("{} is absent", of));
  };
  ratio("dram_read_ratio", "dram_read_bytes", "bytes read from memory over the task's least");
  ratio("l2_read_ratio", "l2_read_bytes", "bytes read from the second-level cache over the task's least");
  ratio("l1_read_ratio", "l1_read_bytes", "bytes of the sectors that loads touch over the task's least");
}

void add_light(const task::Cost& cost, double time_ns, double peak, double compute_ns, Metrics& metrics) {
  // What a plain copy gets of the memory's peak.
  constexpr double kReachable = 0.9;
  if (time_ns <= 0 || peak <= 0) return metrics.absent("light", "the memory's peak is not known");
  const double memory_ns = (cost.bytes_read + cost.bytes_written) / (kReachable * peak);
  metrics.measured("time_ns", time_ns, "on the card, caches cold");
  metrics.modelled("memory_light", memory_ns / time_ns, "least bytes at nine tenths of the memory's peak / time");
  if (compute_ns > 0) metrics.modelled("compute_light", compute_ns / time_ns, "least multiply-adds at the data sheet's peak / time");
  metrics.modelled("light", std::max(memory_ns, compute_ns) / time_ns, "least time this card could take / time");
}

void add_light_of_counters(const task::Cost& cost, double compute_ns, Metrics& metrics) {
  const auto time = metrics.get("kernel_ns"), share = metrics.get("dram_share");
  const double moved = metrics.get_or("dram_read_bytes", 0) + metrics.get_or("dram_write_bytes", 0);
  if (!time || !share || *time <= 0 || *share <= 0 || moved <= 0) {
    metrics.absent("light", "neither timed nor counted");
    return;
  }
  add_light(cost, *time, moved / *time / *share, compute_ns, metrics);
}

}  // namespace hone::diagnose
