#include "hone/face/mcp/workshop.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hone/agent/answer.h"
#include "hone/agent/prompt.h"
#include "hone/base/clock.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/engine/consult.h"
#include "hone/engine/event/event.h"
#include "hone/engine/examine.h"
#include "hone/engine/local.h"
#include "hone/engine/recall.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/export/export.h"
#include "hone/pattern/library.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/cpu.h"

namespace hone::face::mcp {
namespace {

using agent::tool_data;
using agent::tool_failure;
using agent::tool_schema;
using agent::ToolResult;
using nlohmann::json;

constexpr size_t kMostTask = size_t{64} << 10;
constexpr int kMostRunsAtOnce = 4;

json text_type(int longest, const char* about = "") {
  json type = {{"type", "string"}, {"maxLength", longest}};
  if (*about) type["description"] = about;
  return type;
}

/// A task from a client: text only. A path in it would be opened on our side.
Result<task::Task> task_from(const json& arguments) {
  HONE_TRY(task::Task task, task::parse_task(arguments.at("task").get<std::string>(), "task"));
  HONE_TRY(task, task::select_workloads(std::move(task), arguments.value("workloads", std::vector<std::string>{})));
  HONE_TRY(task, task::select_track(std::move(task), arguments.value("track", "")));
  if (task.start) return fail(ErrorCode::kInput, "a task sent by a client names a file (\"start\")", "give the kernel's text as start_source");
  HONE_TRY_VOID(check_fits(task, "task"));
  return task;
}

/// In one of the place's languages. A champion's file, as get_run and export give it, is a kernel like any other.
Result<kernel::Kernel> kernel_in(const json& arguments, const char* key, const engine::Workbench& bench) {
  std::string problem;
  for (const kernel::Language language : bench.languages()) {
    auto kernel = agent::foreign_kernel(arguments.at(key).get<std::string>(), language);
    if (kernel) return std::move(*kernel);
    if (problem.empty()) problem = kernel.error().problem;
  }
  return fail(ErrorCode::kInput, problem, fmt::format("the target {} takes such kernels; \"target\" names another", bench.place().target));
}

/// The properties of a tool that works at a place, on some of a task's workloads.
json with_place(json properties) {
  properties["target"] = text_type(40, "where kernels run: cpu, cuda:0, emulator:cuda, emulator:hip; cpu where left out");
  properties["language"] = text_type(60, "a list that kernels may be written in, of those the target takes; all where left out");
  properties["track"] = text_type(20, "the accuracy track: f32, as-pytorch, tf32, bf16, f16; the task's own where left out");
  properties["workloads"] = {{"type", "array"}, {"items", text_type(60)}, {"maxItems", 64}, {"description", "names of the task's workloads; its default ones where left out"}};
  return properties;
}

bool is_run_id(const std::string& id) {
  return id.size() == 12 && std::all_of(id.begin(), id.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

const json kRunSchema = {{"type", "string"}, {"pattern", "^[0-9a-f]{12}$"}, {"description", "a run's id, as start_run gave it"}};

/// The number of runs that are on is small, and each is asked about often: the newest facts of its log.
json progress_of(const std::vector<archive::Event>& events) {
  json out = {{"evaluations", 0}, {"best_score", 0.0}, {"last", json::array()}};
  std::vector<json> last;
  engine::for_each_event<engine::event::Screened>(events, [&](const engine::event::Screened& e, const engine::LoggedEvent& logged) {
    out["evaluations"] = e.n;
    out["best_score"] = std::max(out["best_score"].get<double>(), e.score);
    out["seconds"] = logged.at;
    last.push_back({{"kernel", e.kernel}, {"action", e.action}, {"score", e.score}, {"verdict", evaluate::name_of(e.screening.verdict.kind)}});
  });
  for (size_t i = last.size() > 5 ? last.size() - 5 : 0; i < last.size(); ++i) out["last"].push_back(last[i]);
  return out;
}

}  // namespace

Workshop::~Workshop() {
  stopping_ = true;
  for (auto& [id, thread] : runs_) thread.join();
}

Result<std::shared_ptr<engine::Workbench>> Workshop::place_in(const json& arguments) {
  const std::string target = arguments.value("target", "cpu"), languages = arguments.value("language", "");
  engine::RunOptions asked;
  asked.languages = languages;
  HONE_TRY(const engine::WorkbenchOptions options, engine::workbench_options(asked));
  const std::scoped_lock lock(places_mutex_);
  std::shared_ptr<engine::Workbench>& place = places_[target + " " + languages];
  if (!place) {
    HONE_TRY(place, engine::Workbench::open(target, options));
  }
  return place;
}

Result<archive::Store> Workshop::archive() const { return archive::Store::open(home_ / "archive.db"); }

ToolResult Workshop::start_run(const json& arguments) {
  auto task = task_from(arguments);
  if (!task) return tool_failure(task.error());
  const auto bench = place_in(arguments);
  if (!bench) return tool_failure(bench.error());
  engine::RunOptions options;
  options.target = (*bench)->place().target;
  options.languages = arguments.value("language", "");
  options.opponents = arguments.value("opponents", "naive");
  if (auto known = engine::check_opponents(options.target, options.opponents); !known) return tool_failure(known.error());
  options.seed = arguments.value("seed", uint64_t{1});
  if (auto budget = parse_budget(arguments.value("budget", "60s"), options); !budget) return tool_failure(budget.error());
  if (arguments.contains("start_source")) {
    const auto start = kernel_in(arguments, "start_source", **bench);
    if (!start) return tool_failure(start.error());
    options.start_source = start->source;
  }
  // Those that came to an end make room.
  if (runs_.size() >= kMostRunsAtOnce) {
    auto store = archive();
    for (auto it = runs_.begin(); store && it != runs_.end();) {
      const auto info = store->run(it->first);
      if (info && info->status != "running") it->second.join(), it = runs_.erase(it);
      else ++it;
    }
    if (runs_.size() >= kMostRunsAtOnce) return tool_failure(fmt::format("{} runs are under way already; get_run says when one is finished", runs_.size()));
  }
  const std::string id = fmt::format("{:012x}", base::secret_seed() >> 16);
  runs_[id] = std::thread([this, id, options, bench = *bench, task = std::move(*task)] {
    const std::scoped_lock lock(measuring_);
    const auto work = [&]() -> Status {
      if (stopping_) return fail(ErrorCode::kInterrupted, "the server ended before the run began");
      HONE_TRY(archive::Store store, archive());
      HONE_TRY(engine::Services services, engine::local_services(task, store, bench, options, home_, [this] { return stopping_.load(); }));
      services.run_id = id;
      services.interrupted = [this] { return stopping_.load(); };
      return engine::start_run(task, options, services).map([](const engine::RunResult&) {});
    };
    if (const Status status = work(); !status) {
      const std::scoped_lock errors(errors_mutex_);
      errors_[id] = status.error().to_string();
    }
  });
  return tool_data({{"run", id}, {"status", "started"}});
}

ToolResult Workshop::get_run(const json& arguments) {
  const std::string id = arguments.at("run");
  if (!is_run_id(id)) return tool_failure("that is no run's id: twelve hexadecimal digits");
  json out = {{"run", id}};
  {
    const std::scoped_lock errors(errors_mutex_);
    if (const auto it = errors_.find(id); it != errors_.end()) return tool_failure(fmt::format("run {} failed: {}", id, it->second));
  }
  auto store = archive();
  if (!store) return tool_failure(store.error());
  const auto info = store->run(id);
  if (!info) {
    if (!runs_.contains(id)) return tool_failure(fmt::format("there is no run {}", id));
    out["status"] = "waiting for the machine";
    return tool_data(std::move(out));
  }
  const auto events = store->events(id);
  if (!events) return tool_failure(events.error());
  out["status"] = info->status;
  out["task"] = info->task_name;
  out["progress"] = progress_of(*events);
  if (const json summary = json::parse(info->summary_json, nullptr, false); summary.is_object()) out["summary"] = summary;
  if (!info->champion.empty())
    if (const auto row = store->kernel(info->champion))
      if (const auto kernel = engine::kernel_from(*row))
        out["champion"] = {{"hash", info->champion}, {"source", agent::bounded(kernel::with_config(*kernel, kernel->config), size_t{12} << 10)}};
  return tool_data(std::move(out));
}

ToolResult Workshop::look_at(const json& arguments, std::optional<engine::Look> look) {
  const auto task = task_from(arguments);
  if (!task) return tool_failure(task.error());
  const auto bench = place_in(arguments);
  if (!bench) return tool_failure(bench.error());
  const auto kernel = kernel_in(arguments, "source", **bench);
  if (!kernel) return tool_failure(kernel.error());
  const std::unique_lock lock(measuring_, std::try_to_lock);
  if (!lock) return tool_failure("a run is measuring; get_run says when it is finished");
  const auto work = [&]() -> Result<json> {
    const bool timed = (*bench)->target().has_clock();
    HONE_TRY(const auto evaluator, (*bench)->evaluator(*task, {}));
    if (timed) {
      const kernel::Kernel naive = (*bench)->plain(*task)->kernel;
      HONE_TRY(const auto first, evaluator->screen(naive));
      if (first.verdict.accepted()) HONE_TRY_VOID(evaluator->set_yardstick(naive));
    }
    HONE_TRY(const auto screening, evaluator->screen(*kernel));
    const evaluate::Verdict& verdict = screening.verdict;
    json out = {{"kernel", kernel->hash()}, {"verdict", evaluate::name_of(verdict.kind)}, {"reason", verdict.reason},
                {"detail", agent::bounded(verdict.detail, size_t{4} << 10)}};
    out["target"] = (*bench)->place().target;
    if (!verdict.accepted() || !timed) return out;
    out["speedup_over_plain_loops"] = screening.score;
    const std::vector<double> bounds = evaluator->bounds_ns();
    std::vector<double> fractions, weights;
    json workloads = json::array();
    for (size_t w = 0; w < screening.median_ns.size() && w < bounds.size(); ++w) {
      fractions.push_back(bounds[w] / screening.median_ns[w]);
      weights.push_back(task->workloads[w].weight);
      workloads.push_back({{"name", task->workloads[w].name}, {"median_ns", screening.median_ns[w]}, {"bound_ns", bounds[w]},
                           {"fraction_of_speed_of_light", fractions.back()}, {"speedup_over_plain_loops", screening.ratio.at(w)}});
    }
    out["fraction_of_speed_of_light"] = evaluate::weighted_geometric_mean(fractions, weights);
    if (!look) return out;
    out["workloads"] = workloads;
    const engine::Examine examine = [&](evaluate::Evaluator& by, const kernel::Kernel& of, bool thorough) {
      return (*bench)->examine(by, of, *task, (*bench)->library(*task), thorough);
    };
    HONE_TRY_VOID(engine::add_look(*look, *evaluator, *kernel, examine, true, out));
    return out;
  };
  auto out = work();
  return out ? tool_data(std::move(*out)) : tool_failure(out.error());
}

ToolResult Workshop::search_memory(const json& arguments) {
  const auto work = [&]() -> Result<json> {
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
  };
  auto out = work();
  return out ? tool_data(std::move(*out)) : tool_failure(out.error());
}

ToolResult Workshop::export_kernel(const json& arguments) {
  const std::string id = arguments.at("run");
  const auto work = [&]() -> Result<json> {
    HONE_TRY(archive::Store store, archive());
    HONE_TRY(const archive::RunInfo run, store.run(id));
    if (run.id != id || run.champion.empty()) return fail(ErrorCode::kNotFound, fmt::format("run {} has no champion", id), "get_run says how far it is");
    HONE_TRY(const archive::KernelRow row, store.kernel(run.champion));
    HONE_TRY(const kernel::Kernel kernel, engine::kernel_from(row));
    HONE_TRY(const task::Task task, task::parse_task(run.task_toml, "run " + run.id));
    const target::CpuInfo& cpu = target::cpu_info();
    ExportOptions options;
    options.limits = target::cpu_limits(cpu);
    options.isa = cpu.isa;
    options.specialised = task.workloads.front().bindings;
    if (!kernel.header.pattern.empty()) options.alignment = 0;
    for (const auto& workload : task.workloads) options.provenance.shapes.push_back(task::bindings_text(workload.bindings));
    options.provenance.date = engine::day_of(run.updated_unix_ms);
    HONE_TRY(const auto files, export_header(kernel, task, pattern::naive_cpp(task), options));
    json all = json::array();
    for (const ExportedFile& file : files) all.push_back({{"name", file.name}, {"content", file.content}});
    return json{{"kernel", run.champion}, {"files", all}};
  };
  auto out = work();
  if (!out) return tool_failure(out.error());
  // The files are the answer: they come whole, beside a text that says which they are.
  ToolResult result{false, "", std::move(*out)};
  for (const json& file : result.data["files"]) result.text += fmt::format("{}: {} bytes\n", file["name"].get<std::string>(), file["content"].get<std::string>().size());
  return result;
}

agent::ToolTable Workshop::tools() {
  agent::ToolTable table;
  agent::add_pattern_tools(table);
  agent::add_limits_tool(table, [] { return json{{"machine", json::parse(engine::machine_json())}, {"peaks", target::to_json(target::cpu_peaks())}}; });
  engine::add_microbenchmark_tool(table, [this](const engine::Snippet& snippet) -> Result<engine::SnippetTimes> {
    const std::unique_lock lock(measuring_, std::try_to_lock);
    if (!lock) return fail(ErrorCode::kUnavailable, "a run is measuring", "get_run says when it is finished");
    HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(json::object()));
    return engine::time_snippet(*bench->toolchain(), snippet);
  });
  const json task_type = text_type(kMostTask, "a task file of hone (TOML): name, inputs, outputs, compute, workloads");
  const json source_type = text_type(131072, "a whole kernel file, beginning with its /* hone header");
  const auto add = [&](const char* name, const char* title, const char* description, json input, bool read_only, std::function<ToolResult(const json&)> run) {
    agent::Tool tool;
    tool.name = name;
    tool.title = title;
    tool.description = description;
    tool.input = std::move(input);
    tool.output = {{"type", "object"}};
    tool.read_only = read_only;
    tool.run = std::move(run);
    table.add(std::move(tool));
  };
  add("start_run", "Start a search", "Searches for a fast kernel for a task. Gives back a run id at once; ask get_run about it.",
      tool_schema(with_place({{"task", task_type}, {"budget", text_type(60, "such as 60s or 40evals; 60s where left out")}, {"start_source", source_type},
                   {"opponents", text_type(100, "a list of naive, pytorch, compile, openblas, onednn; all, or none")},
                   {"seed", {{"type", "integer"}, {"minimum", 0}}}}), {"task"}),
      false, [this](const json& a) { return start_run(a); });
  add("get_run", "Look at a run", "How a run is doing; its champion and summary when it is finished.", tool_schema({{"run", kRunSchema}}, {"run"}), true,
      [this](const json& a) { return get_run(a); });
  const json kernel_input = tool_schema(with_place({{"task", task_type}, {"source", source_type}}), {"task", "source"});
  add("evaluate_kernel", "Evaluate a kernel", "Builds a kernel for a target, verifies it on secret inputs and odd shapes and, where the target knows time, times it against plain loops.",
      kernel_input, true, [this](const json& a) { return look_at(a, std::nullopt); });
  for (const engine::LookTool& look : engine::look_tools())
    add(look.name, look.title, (std::string(look.description) + " With what evaluate_kernel says, and times of each workload.").c_str(), kernel_input, true,
        [this, what = look.look](const json& a) { return look_at(a, what); });
  add("search_memory", "Search earlier runs", "Finished runs whose task, champion or lessons hold all words of the query (ten at most, two with their kernels); with a task also what "
      "was learnt on it and on similar ones.",
      tool_schema(with_place({{"query", text_type(200)}, {"task", task_type}})), true, [this](const json& a) { return search_memory(a); });
  add("export_kernel", "Export a champion", "A finished run's champion as a C++ header and source without dependencies; the files come with the answer.",
      tool_schema({{"run", kRunSchema}}, {"run"}), true, [this](const json& a) { return export_kernel(a); });
  return table;
}

}  // namespace hone::face::mcp
