// hone build: a kernel compiled for a card that need not be there, and what its binary says of it.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/engine/examine.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/target/arch_limits.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/triton.h"

namespace hone::face {
namespace {

using nlohmann::json;

/// One function of the plan, with its first launch on the workload.
struct Function {
  std::string name, symbol;
  std::map<std::string, double> facts, mix;          ///< without "/NAME"
  std::optional<kernel::BoundLaunch> launch;         ///< absent: the limits of the card are not known, or none is made
  std::optional<target::Occupancy> occupancy;
};

int64_t product(const std::vector<int64_t>& extents) {
  int64_t all = 1;
  for (const int64_t extent : extents) all *= extent;
  return all;
}

std::vector<Function> functions_of(const target::Build& build) {
  std::vector<Function> all;
  for (const auto& [name, symbol] : build.symbols) {
    Function& function = all.emplace_back();
    function.name = name;
    function.symbol = symbol;
    const std::string ending = "/" + name, mix = "mix/" + name + "/";
    for (const auto& [fact, value] : build.facts) {
      if (fact.starts_with(mix)) function.mix[fact.substr(mix.size())] = value;
      else if (fact.ends_with(ending)) function.facts[fact.substr(0, fact.size() - ending.size())] = value;
    }
  }
  return all;
}

void add_occupancy(const target::ArchLimits& card, const kernel::BoundPlan& plan, std::vector<Function>& functions) {
  for (Function& function : functions) {
    const auto launch = std::find_if(plan.launches.begin(), plan.launches.end(), [&](const kernel::BoundLaunch& l) { return l.function == function.name; });
    if (launch == plan.launches.end()) continue;
    function.launch = *launch;
    const auto registers = function.facts.find("registers"), shared = function.facts.find("static_shared_bytes");
    if (registers == function.facts.end() || shared == function.facts.end()) continue;
    // Triton's compiler, not the plan, says how much its kernels take.
    const auto laid_out = function.facts.find("dynamic_shared_bytes");
    const int64_t dynamic = laid_out == function.facts.end() ? 0 : static_cast<int64_t>(laid_out->second);
    function.launch->shared += dynamic;
    function.occupancy = target::occupancy(card, product(launch->block), static_cast<int64_t>(registers->second),
                                           static_cast<int64_t>(shared->second) + function.launch->shared);
  }
}

std::string number(const std::map<std::string, double>& facts, const std::string& name) {
  const auto it = facts.find(name);
  return it == facts.end() ? "-" : fmt::format("{:.0f}", it->second);
}

std::string bytes(const std::map<std::string, double>& facts, const std::string& name) {
  const auto it = facts.find(name);
  return it == facts.end() ? "-" : bytes_text(it->second);
}

std::string extents_text(const std::vector<int64_t>& extents) {
  std::string text;
  for (const int64_t extent : extents) text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
  return text;
}

std::string table_of(const std::vector<Function>& functions, bool amd) {
  std::vector<std::string> head = {"function", "registers"};
  if (amd) head.insert(head.end(), {"of them acc", "scalar"});
  head.insert(head.end(), {amd ? "spilled" : "spilled bytes", "stack", "static shared", "constant", "code", "block at most"});
  Table table(head);
  for (const Function& f : functions) {
    std::vector<std::string> row = {f.name, number(f.facts, "registers")};
    if (amd) row.insert(row.end(), {number(f.facts, "agprs"), number(f.facts, "sgprs")});
    row.insert(row.end(), {number(f.facts, amd ? "spilled_vgprs" : "spill_bytes"), bytes(f.facts, "stack_bytes"), bytes(f.facts, "static_shared_bytes"),
                           bytes(f.facts, "constant_bytes"), bytes(f.facts, "code_bytes"), number(f.facts, "max_threads")});
    table.add(std::move(row));
  }
  return table.to_string();
}

std::string occupancy_table(const std::vector<Function>& functions) {
  Table table({"function", "grid", "block", "cluster", "dynamic shared", "occupancy", "blocks", "limited by"});
  for (const Function& f : functions) {
    if (!f.launch) continue;
    const auto& o = f.occupancy;
    table.add({f.name, extents_text(f.launch->grid), extents_text(f.launch->block),
               f.launch->cluster.empty() ? "-" : extents_text(f.launch->cluster), bytes_text(static_cast<double>(f.launch->shared)),
               o ? fmt::format("{:.0f} %", 100 * o->share()) : "-", o ? fmt::format("{}", o->blocks) : "-", o ? o->limited_by : "-"});
  }
  return table.to_string();
}

json function_json(const Function& f) {
  json line = {{"function", f.name}, {"symbol", f.symbol}, {"facts", f.facts}, {"mix", f.mix.empty() ? json() : json(f.mix)}, {"launch", nullptr}, {"occupancy", nullptr}};
  if (f.launch) line["launch"] = {{"grid", f.launch->grid}, {"block", f.launch->block}, {"cluster", f.launch->cluster}, {"shared_bytes", f.launch->shared}};
  if (f.occupancy)
    line["occupancy"] = {{"share", f.occupancy->share()}, {"blocks", f.occupancy->blocks}, {"waves", f.occupancy->waves},
                         {"most_waves", f.occupancy->most_waves}, {"limited_by", f.occupancy->limited_by}};
  return line;
}

void print_text(std::FILE* out, const target::Build& build, const std::vector<Function>& functions, const target::ArchLimits* card, const std::string& shape) {
  fmt::print(out, "{}", table_of(functions, build.card_arch.starts_with("gfx")));
  if (card)
    fmt::print(out, "\n  modelled, on the limits of {}, {}:\n\n{}", card->model, shape, occupancy_table(functions));
  else
    fmt::print(out, "\n  occupancy: absent (the limits of {} are not known)\n", build.card_arch);
  const bool counted = std::any_of(functions.begin(), functions.end(), [](const Function& f) { return !f.mix.empty(); });
  if (!counted) fmt::print(out, "\n  instructions: absent (no disassembler; hone targets says which would do)\n");
  for (const Function& f : functions) {
    if (f.mix.empty()) continue;
    std::string text;
    for (const auto& [what, count] : f.mix)
      if (what != "all") text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", what, count);
    fmt::print(out, "\n  instructions of {}: {:.0f}\n    {}\n", f.name, f.mix.at("all"), text);
  }
  if (const double globals = build.facts.at("writable_global_bytes"); globals > 0)
    fmt::print(out, "\n  global variables that can be written: {}; what is left in them outlives a launch\n", bytes_text(globals));
  fmt::print(out, "\n  binary: {}\n", build.artifact.string());
  if (!build.log.empty() && build.log.find_first_not_of(" \n") != std::string::npos) fmt::print(out, "\n{}\n", build.log);
}

/// A file or hash; "naive" and "pattern:N" as elsewhere.
Result<kernel::Kernel> kernel_to_build(const std::string& name, const task::Task& task, kernel::Language language, const kernel::Limits& limits) {
  if (std::error_code ignored; !std::filesystem::exists(name, ignored)) {
    HONE_TRY(auto ours, engine::library_kernel(name, task, {language}, limits));
    if (ours) return *std::move(ours);
  }
  return known_kernel(name, &task);
}

}  // namespace

Result<int> build_kernel(const KernelArguments& arguments) {
  HONE_TRY(const task::Task task, task_of(arguments.task));
  const auto wanted = arguments.target.starts_with("cuda:") ? kernel::Language::kCuda : kernel::Language::kHip;
  const auto asked = arguments.language.empty() ? std::optional(wanted) : kernel::language_from(arguments.language);
  if (!asked) return fail(ErrorCode::kUsage, fmt::format("there is no language \"{}\"", arguments.language), "one of " + kernel::language_names());
  const target::ArchLimits* const card = target::arch_limits(arguments.target.substr(arguments.target.find(':') + 1));
  HONE_TRY(const kernel::Kernel kernel, kernel_to_build(arguments.kernels.front(), task, *asked, card ? target::plan_limits(*card) : kernel::Limits{}));
  // Triton brings an assembler of its own, so that it needs no toolkit.
  const bool triton = kernel.header.language == kernel::Language::kTriton;
  HONE_TRY(const auto toolchain, triton ? target::triton_toolchain(arguments.target) : target::gpu_toolchain(arguments.target));
  const bool tilelang = kernel.header.language == kernel::Language::kTileLang;
  if (kernel.header.language != wanted && !triton && !tilelang)
    return fail(ErrorCode::kUsage, fmt::format("the kernel is written in {}, which is not what the target {} takes", kernel::name_of(kernel.header.language), arguments.target));
  const task::Workload& workload = task.workloads.front();
  // A plan that does not fit the workload is the user's to know before a compiler runs.
  std::optional<kernel::BoundPlan> plan;
  if (card) {
    HONE_TRY(plan, kernel::bind(kernel, task, workload.bindings, target::plan_limits(*card)));
  }
  HONE_TRY(const target::BuildOutcome outcome, toolchain->build(kernel, task, workload.bindings, {.mix = true}));
  std::FILE* out = arguments.json ? stderr : stdout;
  json line = {{"target", arguments.target}, {"toolchain", toolchain->name()}, {"workload", {{"name", workload.name}, {"bindings", workload.bindings}}},
               {"built", false}, {"code", nullptr}, {"reason", ""}, {"log", ""}, {"binary", nullptr}, {"writable_global_bytes", nullptr}, {"limits_of", card ? json(card->model) : json()},
               {"functions", json::array()}};
  if (const auto* failure = std::get_if<target::BuildFailure>(&outcome)) {
    fmt::print(out, "not built for {} ({}): {}\n", arguments.target, toolchain->name(), failure->reason);
    if (!failure->log.empty()) fmt::print(out, "{}\n", failure->log);
    line["reason"] = failure->reason;
    line["log"] = failure->log;
  } else {
    const auto& build = std::get<target::Build>(outcome);
    std::vector<Function> functions = functions_of(build);
    if (card && build.lowered) {
      HONE_TRY(plan, target::plan_of(kernel, build, task, workload.bindings, target::plan_limits(*card)));
    }
    if (card && plan) add_occupancy(*card, *plan, functions);
    fmt::print(out, "built for {} by {}{}\n\n", arguments.target, build.toolchain,
               build.wall_ns ? fmt::format(" in {}", time_text(static_cast<double>(build.wall_ns)))
                          : target::is_shipped(build.toolchain) ? "" : " (kept from before)");
    print_text(out, build, functions, card, task::bindings_text(workload.bindings));
    line["built"] = true;
    line["code"] = build.code;
    line["toolchain"] = build.toolchain;
    line["log"] = build.log;
    line["binary"] = build.artifact.string();
    line["writable_global_bytes"] = build.facts.at("writable_global_bytes");
    for (const Function& function : functions) line["functions"].push_back(function_json(function));
  }
  if (arguments.json) fmt::print("{}\n", base::canonical_json(line));
  return std::holds_alternative<target::Build>(outcome) ? 0 : 1;
}

}  // namespace hone::face
