#include "hone/engine/briefing.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/agent/looked.h"
#include "hone/agent/prompt.h"
#include "hone/base/json.h"
#include "hone/engine/run.h"
#include "hone/target/card_peaks.h"

namespace hone::engine {
namespace {

using nlohmann::json;

std::string bytes_text(double bytes) {
  constexpr double kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{:.4g} KiB", bytes / kKibi);
  if (bytes < kKibi * kKibi * kKibi) return fmt::format("{:.4g} MiB", bytes / kKibi / kKibi);
  return fmt::format("{:.4g} GiB", bytes / kKibi / kKibi / kKibi);
}

std::string machine_text(const json& machine) {
  std::string text = fmt::format("Processor: {}", base::string_at(machine, "model").value_or("unknown"));
  if (const std::string isa = base::string_at(machine, "isa").value_or(""); !isa.empty()) text += ", " + isa;
  if (const int64_t threads = base::int_at(machine, "threads").value_or(0); threads > 0) text += fmt::format(", {} threads", threads);
  for (const auto& [key, name] : {std::pair("l1_bytes", "L1 (data, a core)"), std::pair("l2_bytes", "L2 (a core)"), std::pair("l3_bytes", "last level"),
                                  std::pair("memory_bytes", "memory")})
    if (const double bytes = base::number_at(machine, key).value_or(0); bytes > 0) text += fmt::format(", {} {}", name, bytes_text(bytes));
  return text + "\n";
}

std::string workload_text(const task::Workload& workload, const evaluate::LightBound* bound) {
  std::string text = fmt::format("- {} ({})", agent::one_line(workload.name, 60), task::bindings_text(workload.bindings));
  if (workload.weight != 1) text += fmt::format(", weight {:g}", workload.weight);
  if (!bound || bound->bytes <= 0) return text + "\n";
  const double least = std::max(bound->memory_ns, bound->compute_ns);
  text += fmt::format(": {:.4g} MB must move (inputs once, outputs once), {:.4g} M operations", bound->bytes * 1e-6, bound->flops * 1e-6);
  if (bound->memory_ns > 0)
    text += fmt::format("; a kernel that moves those bytes and computes nothing takes {} here ({:.4g} GB/s)", agent::time_text(bound->memory_ns),
                        bound->bytes / bound->memory_ns);
  if (bound->compute_ns > 0) text += fmt::format("; its multiply-adds take {} at the measured peak", agent::time_text(bound->compute_ns));
  if (least > 0) text += fmt::format("; the bound is {}, by {}", agent::time_text(least), bound->compute_ns > bound->memory_ns ? "compute" : "memory");
  return text + "\n";
}

}  // namespace

std::string card_facts(const target::CardInfo& card, const target::CpuPeaks& peaks) {
  std::string text = fmt::format(
      "Kernels run on {}, {}: {} multiprocessors of {} threads, warps of {}, blocks of at most {} threads; shared memory {} a block, {} a multiprocessor; "
      "L2 {}, memory {}\n",
      card.name, card.arch, card.sms, card.threads_per_sm, card.wave, card.threads_per_block, bytes_text(static_cast<double>(card.shared_max)),
      bytes_text(static_cast<double>(card.shared_per_sm)), bytes_text(static_cast<double>(card.l2_bytes)), bytes_text(static_cast<double>(card.memory_bytes)));
  if (const double memory = target::card_memory_peak(card); memory > 0) text += fmt::format("Memory moves {:.4g} GB/s at the most (bus and clock)\n", memory);
  if (peaks.bf16 > 0)
    text += fmt::format("Multiply-adds a nanosecond at the highest clock: f64 {:.4g}, f32 {:.4g}, TF32 {:.4g}, bf16 and f16 {:.4g}, i8 {:.4g} (tensor cores where they "
                        "do it)\n", peaks.f64, peaks.f32, peaks.tf32, peaks.bf16, peaks.i8);
  return text;
}

std::string limits_text(const kernel::Limits& limits) {
  std::vector<std::string> all;
  for (const auto& [name, value] : limits) all.push_back(fmt::format("{} {}", name, value));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string cpu_facts(const json& machine, const std::string& extensions, const target::CpuPeaks& peaks) {
  std::string text = machine_text(machine);
  if (!extensions.empty()) text += "Instruction set extensions that builds use (-march=native; AMX tiles need a permission that kernels do not have):\n" + extensions;
  if (peaks.read > 0)
    text += fmt::format("Measured peaks of {} threads together: memory (no cache holds it) read {:.4g} GB/s, write {:.4g} GB/s, copy {:.4g} GB/s (read and "
                        "written bytes counted); multiply-adds a nanosecond: f64 {:.4g}, f32 {:.4g}, bf16 {:.4g}, i8 {:.4g}{}\n",
                        peaks.threads, peaks.read, peaks.write, peaks.copy, peaks.f64, peaks.f32, peaks.bf16, peaks.i8,
                        peaks.quiet ? "" : " (others used the machine meanwhile: may be too low)");
  return text;
}

std::vector<std::string> worked_kernels(const std::vector<search::Seed>& seeds, kernel::Language language) {
  constexpr size_t kWorked = 2, kLongest = size_t{10} << 10;
  std::vector<const search::Seed*> chosen;
  // Those of another make first: what two say of one way is said by the first.
  for (const bool other : {true, false})
    for (const search::Seed& seed : seeds) {
      const auto alike = [&](const search::Seed* s) { return other ? s->pattern == seed.pattern : s->kernel.source == seed.kernel.source; };
      if (chosen.size() == kWorked || seed.pattern.empty() || seed.kernel.header.language != language || seed.kernel.source.size() > kLongest) continue;
      if (std::none_of(chosen.begin(), chosen.end(), alike)) chosen.push_back(&seed);
    }
  std::vector<std::string> files;
  for (const search::Seed* seed : chosen) files.push_back(seed->kernel.source);
  return files;
}

std::vector<std::string> directions_for(const task::Task& task, const std::vector<evaluate::LightBound>& bounds, const kernel::Limits& limits) {
  double least = 0, most = 0, products = 0, transcendental = 0, bytes = 0, weight = 0, computes = 0;
  std::string smallest, largest;
  int64_t elements = 0;
  for (size_t w = 0; w < task.workloads.size(); ++w) {
    const task::Workload& workload = task.workloads[w];
    const auto graph = task::instantiate(task.primitive, workload.bindings);
    if (!graph) continue;
    const task::Cost cost = task::minimal_cost(*graph);
    const double moved = cost.bytes_read + cost.bytes_written;
    weight += workload.weight;
    products += workload.weight * cost.products.all() / std::max(moved, 1.0);
    transcendental += workload.weight * cost.transcendental / std::max(moved, 1.0);
    if (w < bounds.size() && bounds[w].compute_ns > bounds[w].memory_ns) computes += workload.weight;
    if (smallest.empty() || moved < least) {
      least = moved, smallest = workload.name, elements = 0;
      for (const int output : graph->graph.outputs) elements = std::max(elements, task::element_count(graph->shapes[static_cast<size_t>(output)]));
    }
    if (moved > most) most = moved, largest = workload.name;
    bytes = std::max(bytes, moved);
  }
  std::vector<std::string> first, then;
  const auto units = limits.contains("SMS") ? limits.at("SMS") : limits.contains("THREADS") ? limits.at("THREADS") : int64_t{1};
  const bool gpu = limits.contains("SMS");
  const bool compute = weight > 0 && (bounds.empty() ? products / weight > 8 : computes / weight > 0.5);
  (compute ? then : first).push_back(fmt::format("bytes: at the most {} must move; read each input once, keep what is read again in registers, {} or a cache, and write each "
                                                 "output once", bytes_text(bytes), gpu ? "shared memory" : "the first-level cache"));
  if (products > 0)
    (compute ? first : then).push_back(gpu ? "the products: which unit does them (matrix units where the accuracy allows, else FMA), tiles in registers, copies into shared memory "
                                             "that run beside the arithmetic" : "the products: register tiles that keep every FMA unit busy, packed factors, blocks that fit the caches");
  // A block of a GPU wants a few hundred elements a thread block; a CPU's thread some thousands.
  if (elements < units * (gpu ? 2048 : 16384))
    first.push_back(fmt::format("parallelism: {} has {} elements of output for {} {}: share long sums between blocks, make blocks smaller, leave none idle",
                                agent::one_line(smallest, 60), elements, units, gpu ? "multiprocessors" : "threads"));
  if (task.workloads.size() > 1 && most > 32 * std::max(least, 1.0))
    then.push_back(fmt::format("shapes: {} moves {:.0f} times the bytes of {}: a launch of its own for each kind (`when`)", agent::one_line(largest, 60), most / std::max(least, 1.0),
                               agent::one_line(smallest, 60)));
  if (weight > 0 && transcendental / weight > 0.02)
    then.push_back("functions: fewer and cheaper exponentials, logarithms and divisions of the same accuracy; algebra that shares them");
  then.push_back(gpu ? "latency: more bytes on their way at a time (wide loads, unrolling, asynchronous copies), occupancy against registers, fewer launches and barriers"
                     : "the innermost loop: wide vectors, several accumulators, no dependence between iterations, streaming stores past the caches");
  then.push_back("another algorithm: fewer passes, one pass over several reductions, a recurrence or an identity that the library does not use");
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

std::string briefing(const std::string& toolchain, const std::string& place, const task::Task& task,
                     const std::vector<evaluate::LightBound>& bounds, const RunOptions& options) {
  std::string text = place + "Compilers: " + toolchain + "\nWorkloads:\n";
  for (size_t i = 0; i < task.workloads.size(); ++i) text += workload_text(task.workloads[i], i < bounds.size() ? &bounds[i] : nullptr);
  text += "The run looks at ";
  text += options.budget_evaluations > 0 ? fmt::format("{} kernels at the most (a setting of tunables counts as one)", options.budget_evaluations)
                                         : "as many kernels as time allows (a setting of tunables counts as one)";
  if (options.budget_seconds > 0) text += fmt::format(", and takes {:.0f} s", options.budget_seconds);
  return text + "; models' kernels and hone's own share them.";
}

}  // namespace hone::engine
