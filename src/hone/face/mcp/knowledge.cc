// What hone knows without running a kernel: tasks explained, the library's kernels, memory; and kernels as files.
#include <algorithm>

#include <fmt/format.h>

#include "hone/agent/prompt.h"
#include "hone/base/clock.h"
#include "hone/engine/champion.h"
#include "hone/engine/recall.h"
#include "hone/face/export/export.h"
#include "hone/face/mcp/workshop.h"
#include "hone/pattern/library.h"
#include "hone/target/cpu.h"

namespace hone::face::mcp {
namespace {

using agent::tool_failure;
using agent::ToolResult;
using nlohmann::json;

constexpr size_t kGraphShown = size_t{8} << 10;

}  // namespace

Result<json> Workshop::explain_task(const json& arguments) {
  HONE_TRY(const task::Task task, task_from(arguments));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(arguments));
  json workloads = json::array();
  for (const task::Workload& workload : task.workloads) {
    HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, workload.bindings));
    const task::Cost cost = task::minimal_cost(graph);
    workloads.push_back({{"name", workload.name}, {"shape", task::bindings_text(workload.bindings)}, {"weight", workload.weight}, {"bytes", cost.bytes_read + cost.bytes_written},
                         {"operations", cost.flops}, {"multiply_adds", cost.products.all()}, {"transcendental", cost.transcendental}});
  }
  json kernels = json::array();
  for (const search::Seed& seed : bench->library(task).seeds) kernels.push_back(engine::name_of(seed));
  return json{{"name", task.name}, {"track", task::name_of(task.track)}, {"target", bench->place().target}, {"graph", agent::bounded(task.surface.to_string(), kGraphShown)}, {"primitives", agent::bounded(task.primitive.to_string(), kGraphShown)},
              {"workloads", workloads}, {"library", kernels}, {"next", "library_kernels shows them, show_limits the target, evaluate_kernel judges one of yours"}};
}

Result<json> Workshop::library_kernels(const json& arguments) {
  HONE_TRY(const task::Task task, task_from(arguments));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(arguments));
  const auto file_of = [](const search::Seed& seed) {
    return json{{"name", engine::name_of(seed)}, {"language", kernel::name_of(seed.kernel.header.language)}, {"source", kernel::with_config(seed.kernel, seed.kernel.config)}};
  };
  if (arguments.value("plain", false)) {
    const auto plain = bench->plain(task);
    if (!plain) return fail(ErrorCode::kNotFound, "the library writes no plain loops in that language");
    return file_of(*plain);
  }
  const std::vector<search::Seed> seeds = bench->library(task).seeds;
  if (arguments.contains("number")) {
    const size_t number = arguments["number"];
    if (number >= seeds.size()) return fail(ErrorCode::kNotFound, fmt::format("the library has {} kernels for the task, numbered from 0", seeds.size()));
    return file_of(seeds[number]);
  }
  json all = json::array();
  for (size_t i = 0; i < seeds.size(); ++i)
    all.push_back({{"number", i}, {"name", engine::name_of(seeds[i])}, {"language", kernel::name_of(seeds[i].kernel.header.language)}, {"bytes", seeds[i].kernel.source.size()}});
  return json{{"kernels", all}};
}

Result<json> Workshop::search_memory(const json& arguments) {
  HONE_TRY(archive::Store store, archive());
  engine::MemoryQuery query;
  query.words = arguments.value("query", "");
  std::optional<task::Task> task;
  if (arguments.contains("task")) {
    HONE_TRY(task, task_from(arguments));
    HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(arguments));
    query.near = &*task;
    query.place = bench->place();
    query.seeds = bench->library(*task).seeds;
    query.limits = bench->limits();
    query.now_unix_ms = base::system_clock().unix_ms();
  }
  return engine::search_memory(store, query);
}

ToolResult Workshop::export_kernel(const json& arguments) {
  ToolResult result;
  const auto work = [&]() -> Status {
    std::optional<kernel::Kernel> kernel;
    std::optional<task::Task> task;
    ExportOptions options;
    if (arguments.contains("run")) {
      const std::string id = arguments["run"];
      HONE_TRY(archive::Store store, archive());
      HONE_TRY(const archive::RunInfo run, store.run(id));
      if (run.id != id || run.champion.empty()) return fail(ErrorCode::kNotFound, fmt::format("run {} has no champion", id), "get_run says how far it is");
      HONE_TRY(const archive::KernelRow row, store.kernel(run.champion));
      HONE_TRY(kernel, engine::kernel_from(row));
      HONE_TRY(task, task::parse_task(run.task_toml, "run " + run.id));
      options.provenance.date = engine::day_of(run.updated_unix_ms);
    } else if (arguments.contains("task") && arguments.contains("source")) {
      // What is handed out was judged here.
      HONE_TRY(const json judged, look_at(arguments, std::nullopt));
      if (judged.at("verdict") != evaluate::name_of(evaluate::VerdictKind::kAccepted))
        return fail(ErrorCode::kInput, fmt::format("the kernel is refused: {}: {}", judged.at("verdict").get<std::string>(), judged.at("reason").get<std::string>()));
      HONE_TRY(task, task_from(arguments));
      HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(arguments));
      HONE_TRY(kernel, kernel_in(arguments, "source", *bench, *task));
      options.provenance.date = engine::day_of(base::system_clock().unix_ms());
    } else {
      return fail(ErrorCode::kInput, "give a run, or a task and a source");
    }
    result.data["kernel"] = kernel->hash();
    if (kernel->header.language != kernel::Language::kCpp) {
      const kernel::LanguageRow& row = kernel::row_of(kernel->header.language);
      const bool python = row.threads == kernel::Threads::kWarps || row.threads == kernel::Threads::kCompiled;
      result.files.push_back({task->name + std::string(row.suffix), python ? "text/x-python" : "text/x-c++", kernel::with_config(*kernel, kernel->config)});
      return {};
    }
    const target::CpuInfo& cpu = target::cpu_info();
    options.limits = target::cpu_limits(cpu);
    options.isa = cpu.isa;
    options.specialised = task->workloads.front().bindings;
    if (!kernel->header.pattern.empty()) options.alignment = 0;
    for (const auto& workload : task->workloads) options.provenance.shapes.push_back(task::bindings_text(workload.bindings));
    HONE_TRY(const auto files, export_header(*kernel, *task, pattern::naive_cpp(*task), options));
    for (const ExportedFile& file : files) result.files.push_back({file.name, "text/x-c++", file.content});
    return {};
  };
  if (const Status done = work(); !done) return tool_failure(done.error());
  // The answer says which files there are; they themselves come beside it, once.
  result.data["files"] = json::array();
  for (const agent::Attachment& file : result.files) {
    result.data["files"].push_back({{"name", file.name}, {"bytes", file.text.size()}});
    result.text += fmt::format("{}: {} bytes\n", file.name, file.text.size());
  }
  return result;
}

}  // namespace hone::face::mcp
