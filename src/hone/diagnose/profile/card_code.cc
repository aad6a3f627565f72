// What the build and the plan say of a kernel on a card: the stand-in for counters, and what counters do not tell.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/diagnose/profile/card_metrics.h"

namespace hone::diagnose {
namespace {

int64_t product(const std::vector<int64_t>& extents) {
  int64_t all = 1;
  for (const int64_t extent : extents) all *= extent;
  return all;
}

class Facts {
 public:
  Facts(const target::Build& build, std::string function) : build_(build), function_(std::move(function)) {}
  [[nodiscard]] std::optional<double> get(std::string_view name) const {
    const auto at = build_.facts.find(fmt::format("{}/{}", name, function_));
    return at == build_.facts.end() ? std::nullopt : std::optional(at->second);
  }
  /// Those of the code whose name is `word` or begins with it and a dot: `each` gets the name and how many.
  template <class Each>
  void instructions(std::string_view word, Each each) const {
    const std::string begin = fmt::format("mix/{}/", function_);
    for (auto at = build_.facts.lower_bound(begin); at != build_.facts.end() && at->first.starts_with(begin); ++at) {
      const std::string_view name = std::string_view(at->first).substr(begin.size());
      if (name == word || (name.starts_with(word) && name.size() > word.size() && name[word.size()] == '.')) each(name, at->second);
    }
  }
  [[nodiscard]] double count(std::initializer_list<std::string_view> words) const {
    double all = 0;
    for (const std::string_view word : words) instructions(word, [&](std::string_view, double n) { all += n; });
    return all;
  }

 private:
  const target::Build& build_;
  std::string function_;
};

/// Mean bytes a thread's load from global memory asks for; 0 where there is none.
double load_bytes(const Facts& facts) {
  double bytes = 0, loads = 0;
  facts.instructions("LDG", [&](std::string_view name, double n) {
    const size_t dot = name.rfind('.');
    const std::string_view width = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    bytes += n * (width == "128" ? 16 : width == "64" ? 8 : width == "16" || width == "U16" ? 2 : width == "8" || width == "U8" || width == "S8" ? 1 : 4);
    loads += n;
  });
  return loads > 0 ? bytes / loads : 0;
}

void add_mix(const Facts& facts, Metrics& metrics) {
  const double instructions = facts.count({"all"});
  if (instructions <= 0) {
    for (const char* name : {"code_loads", "code_load_bytes", "code_spill_share", "code_special_share", "code_barriers"})
      metrics.absent(name, "there is no disassembler");
    return;
  }
  metrics.modelled("code_loads", facts.count({"LDG"}), "loads from global memory in the code, each counted once");
  metrics.modelled("code_load_bytes", load_bytes(facts), "mean bytes that a thread's load asks for");
  metrics.modelled("code_spill_share", facts.count({"LDL", "STL"}) / instructions, "loads and stores of spilled registers, of the instructions in the code");
  metrics.modelled("code_special_share", facts.count({"MUFU"}) / instructions, "exp, log, roots, reciprocals, of the instructions in the code");
  metrics.modelled("code_barriers", facts.count({"BAR"}), "barriers in the code");
}

}  // namespace

void add_card_code(const target::Build& build, const kernel::BoundPlan& plan, const target::ArchLimits* limits, const task::Cost& cost, Metrics& metrics) {
  const kernel::BoundLaunch* largest = nullptr;
  double fewest = 0;
  for (const kernel::BoundLaunch& launch : plan.launches) {
    if (!largest || product(launch.grid) * product(launch.block) > product(largest->grid) * product(largest->block)) largest = &launch;
    const auto blocks = static_cast<double>(product(launch.grid));
    fewest = fewest == 0 ? blocks : std::min(fewest, blocks);
  }
  if (!largest) return;
  metrics.modelled("launches", static_cast<double>(plan.launches.size()), "of the plan, a call");
  metrics.modelled("fewest_blocks", fewest, "of the launch with the fewest blocks");
  double workspace = 0, read = 0;
  for (const auto& w : plan.workspaces) {
    const auto bytes = static_cast<double>(task::element_count(w.shape) * task::size_of(w.dtype));
    workspace += bytes * (w.zero ? 3 : 2), read += bytes;
  }
  if (cost.bytes_read > 0) metrics.modelled("workspace_read_ratio", read / cost.bytes_read, "bytes of workspaces, read once each, against the task's least");
  if (const double least = cost.bytes_read + cost.bytes_written; least > 0)
    metrics.modelled("workspace_ratio", workspace / least, "bytes of workspaces, written and read once each, against the task's least bytes");
  const Facts facts(build, largest->function);
  const auto registers = facts.get("registers"), spilled = facts.get("spill_bytes");
  if (registers) metrics.modelled("registers", *registers, "a thread's, of the launch with most threads");
  else metrics.absent("registers", "the compiler did not say");
  if (spilled) metrics.modelled("spill_bytes", *spilled, "a thread stores and loads for want of registers");
  else metrics.absent("spill_bytes", "the compiler did not say");
  metrics.modelled("block_threads", static_cast<double>(product(largest->block)), "of a block");
  if (limits && registers) {
    const auto fits = target::occupancy(*limits, product(largest->block), static_cast<int64_t>(*registers),
                                        static_cast<int64_t>(facts.get("static_shared_bytes").value_or(0)) + largest->shared);
    metrics.modelled("occupancy_modelled", fits.share(), fmt::format("warps that a multiprocessor holds at a time, limited by {}", fits.limited_by));
    metrics.modelled("limited_by_registers", fits.limited_by == "registers", "1: registers limit how many warps there are");
    metrics.modelled("limited_by_shared", fits.limited_by == "shared memory", "1: shared memory limits how many warps there are");
    if (fits.blocks > 0)
      metrics.modelled("waves", static_cast<double>(product(largest->grid)) / static_cast<double>(fits.blocks * limits->sms),
                       "rounds that its blocks take, of the launch with most threads");
  } else {
    metrics.absent("occupancy_modelled", limits ? "the registers are not known" : fmt::format("the limits of {} are not known", build.card_arch));
  }
  add_mix(facts, metrics);
}

}  // namespace hone::diagnose
