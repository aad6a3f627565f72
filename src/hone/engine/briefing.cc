#include "hone/engine/briefing.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/agent/looked.h"
#include "hone/agent/prompt.h"
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
  std::string text = fmt::format("Processor: {}", machine.value("model", "unknown"));
  if (const std::string isa = machine.value("isa", ""); !isa.empty()) text += ", " + isa;
  if (const int threads = machine.value("threads", 0); threads > 0) text += fmt::format(", {} threads", threads);
  for (const auto& [key, name] : {std::pair("l1_bytes", "L1 (data, a core)"), std::pair("l2_bytes", "L2 (a core)"), std::pair("l3_bytes", "last level"),
                                  std::pair("memory_bytes", "memory")})
    if (const double bytes = machine.value(key, 0.0); bytes > 0) text += fmt::format(", {} {}", name, bytes_text(bytes));
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
      "L2 {}, memory {}; the processor above only builds and checks\n",
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

std::string cpu_facts(const std::string& extensions, const target::CpuPeaks& peaks) {
  std::string text;
  if (!extensions.empty()) text += "Instruction set extensions that builds use (-march=native; AMX tiles need a permission that kernels do not have):\n" + extensions;
  if (peaks.read > 0)
    text += fmt::format("Measured peaks of {} threads together: memory (no cache holds it) read {:.4g} GB/s, write {:.4g} GB/s, copy {:.4g} GB/s (read and "
                        "written bytes counted); multiply-adds a nanosecond: f64 {:.4g}, f32 {:.4g}, bf16 {:.4g}, i8 {:.4g}{}\n",
                        peaks.threads, peaks.read, peaks.write, peaks.copy, peaks.f64, peaks.f32, peaks.bf16, peaks.i8,
                        peaks.quiet ? "" : " (others used the machine meanwhile: may be too low)");
  return text;
}

std::string briefing(const json& machine, const std::string& toolchain, const std::string& place, const task::Task& task,
                     const std::vector<evaluate::LightBound>& bounds, const RunOptions& options) {
  std::string text = machine_text(machine) + "Compilers: " + toolchain + "\n" + place + "Workloads:\n";
  for (size_t i = 0; i < task.workloads.size(); ++i) text += workload_text(task.workloads[i], i < bounds.size() ? &bounds[i] : nullptr);
  text += "The run looks at ";
  text += options.budget_evaluations > 0 ? fmt::format("{} kernels at the most (a setting of tunables counts as one)", options.budget_evaluations)
                                         : "as many kernels as time allows (a setting of tunables counts as one)";
  if (options.budget_seconds > 0) text += fmt::format(", and takes {:.0f} s", options.budget_seconds);
  return text + "; models' kernels and hone's own share them.";
}

}  // namespace hone::engine
