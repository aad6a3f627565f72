#include "hone/face/mcp/workshop.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/agent/answer.h"
#include "hone/agent/prompt.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/engine/event/event.h"
#include "hone/engine/local.h"
#include "hone/engine/recall.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/models.h"
#include "hone/face/report/report.h"
#include "hone/kernel/check_names.h"
#include "hone/target/calibrate/speed_of_light.h"

namespace hone::face::mcp {
namespace {

using agent::tool_data;
using agent::tool_failure;
using agent::tool_schema;
using agent::ToolResult;
using nlohmann::json;

constexpr int kMostTask = 64 << 10;
constexpr size_t kMostRunsAtOnce = 4;
constexpr int kLongestWaitSeconds = 300;

bool is_run_id(const std::string& id) {
  return id.size() == 12 && std::all_of(id.begin(), id.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

const json kRunSchema = {{"type", "string"}, {"pattern", "^[0-9a-f]{12}$"}};

/// The number of runs that are on is small, and each is asked about often: the newest facts of its log.
json progress_of(const std::vector<archive::Event>& events) {
  json out = {{"evaluations", 0}, {"best_score", 0.0}, {"scores", "by quick looks, over the first accepted kernel: they steer the search and are no comparison"}, {"last", json::array()}};
  std::vector<json> last;
  engine::for_each_event<engine::event::Screened>(events, [&](const engine::event::Screened& e, const engine::LoggedEvent& logged) {
    out["evaluations"] = e.n;
    out["best_score"] = std::max(out["best_score"].get<double>(), e.score);
    out["seconds"] = logged.at;
    last.push_back({{"kernel", e.kernel}, {"action", e.action}, {"score", e.score}, {"verdict", evaluate::name_of(e.screening.verdict.kind)}});
  });
  engine::for_each_event<engine::event::Unusable>(events, [&](const engine::event::Unusable& e, const engine::LoggedEvent&) {
    out["unusable_answers"] = out.value("unusable_answers", 0) + 1;
    out["last_unusable"] = e.reason;
  });
  for (size_t i = last.size() > 5 ? last.size() - 5 : 0; i < last.size(); ++i) out["last"].push_back(last[i]);
  return out;
}

}  // namespace

json text_type(int longest, const char* about) {
  json type = {{"type", "string"}, {"maxLength", longest}};
  if (*about) type["description"] = about;
  return type;
}

Result<task::Task> task_from(const json& arguments) {
  HONE_TRY(task::Task task, task::parse_task(arguments.at("task").get<std::string>(), "task"));
  HONE_TRY(task, task::select_workloads(std::move(task), arguments.value("workloads", std::vector<std::string>{})));
  HONE_TRY(task, task::select_track(std::move(task), arguments.value("track", "")));
  if (task.start) return fail(ErrorCode::kInput, "a task sent by a client names a file (\"start\")", "give the kernel's text as start_source");
  HONE_TRY_VOID(check_fits(task, "task"));
  return task;
}

Result<kernel::Kernel> kernel_in(const json& arguments, const char* key, const engine::Workbench& bench, const task::Task& task) {
  const std::string source = kernel::without_marks(arguments.at(key).get<std::string>());
  const std::vector<kernel::Language> languages = bench.languages();
  const auto parsed = kernel::parse_kernel(source, "kernel");
  if (parsed && std::ranges::count(languages, parsed->header.language) == 0) {
    std::vector<std::string_view> names;
    for (const kernel::Language language : languages) names.push_back(kernel::name_of(language));
    return fail(ErrorCode::kInput, fmt::format("the kernel is written in {}; the target {} takes {}", kernel::name_of(parsed->header.language), bench.place().target, fmt::join(names, ", ")),
                "\"target\" names another");
  }
  auto kernel = agent::foreign_kernel(source, parsed ? parsed->header.language : languages.front());
  if (!kernel) return fail(ErrorCode::kInput, kernel.error().problem);
  HONE_TRY_VOID(kernel::check_names(*kernel, task, bench.limits()));
  return std::move(*kernel);
}

/// What they are say the server's instructions, once for all tools, and explain_task, which is mostly the first to be called.
json with_place(json properties, bool explained) {
  properties["target"] = text_type(120, explained ? "cpu where left out, cuda:0, emulator:cuda, emulator:hip, emulator:triton" : "");
  properties["language"] = text_type(60, explained ? "of those that the target takes, a list; all where left out" : "");
  properties["track"] = text_type(20, explained ? "accuracy: f32, as-pytorch, tf32, bf16, f16; the task's own where left out" : "");
  properties["workloads"] = {{"type", "array"}, {"items", text_type(60)}};
  properties["workloads"]["maxItems"] = 64;
  if (explained) properties["workloads"]["description"] = "names of the task's; its default ones where left out";
  return properties;
}

Workshop::~Workshop() {
  stopping_ = true;
  for (auto& [id, live] : runs_) live.thread.join();
}

Result<std::shared_ptr<engine::Workbench>> Workshop::place_in(const json& arguments) {
  const std::string target = arguments.value("target", "cpu"), languages = arguments.value("language", "");
  engine::RunOptions asked;
  asked.languages = languages;
  HONE_TRY(const engine::WorkbenchOptions options, engine::workbench_options(asked));
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<engine::Workbench>& place = places_[target + " " + languages];
  if (!place) {
    HONE_TRY(place, engine::Workbench::open(target, options));
  }
  return place;
}

Result<archive::Store> Workshop::archive() const { return archive::Store::open(home_ / "archive.db"); }

Result<engine::ModelServices> Workshop::model_services_of(const std::string& models_json) const {
  HONE_TRY(engine::ModelServices services, model_services(models_json));
  services.another_store = [this] { return archive(); };
  return services;
}

Status Workshop::launch(const std::string& id, std::function<Status(const std::function<bool()>&)> work) {
  HONE_TRY(archive::Store store, archive());
  std::vector<std::jthread> ended;   // joined once nobody waits for our mutex any more
  const std::scoped_lock lock(mutex_);
  // Those that came to an end make room.
  for (auto it = runs_.begin(); it != runs_.end();) {
    const auto info = store.run(it->first);
    const bool over = (info && info->status != "running") || errors_.contains(it->first);
    if (over) ended.emplace_back([thread = std::make_shared<std::thread>(std::move(it->second.thread))] { thread->join(); });
    it = over ? runs_.erase(it) : std::next(it);
  }
  if (runs_.contains(id)) return fail(ErrorCode::kInput, fmt::format("run {} is under way", id), "wait says when it is finished");
  if (runs_.size() >= kMostRunsAtOnce)
    return fail(ErrorCode::kUnavailable, fmt::format("{} runs are under way already", runs_.size()), "wait says when one is finished, cancel ends one");
  errors_.erase(id);
  auto stop = std::make_shared<std::atomic<bool>>(false);
  const auto stopped = [this, stop] { return stop->load() || stopping_.load(); };
  runs_[id] = {std::thread([this, id, stopped, work = std::move(work)] {
                 const std::scoped_lock machine(measuring_);
                 const Status status = stopped() ? Status(fail(ErrorCode::kInterrupted, "it was ended before it began")) : work(stopped);
                 if (status) return;
                 const std::scoped_lock errors(mutex_);
                 errors_[id] = status.error().to_string();
               }),
               stop};
  return {};
}

Result<json> Workshop::start_run(const json& arguments, bool tune) {
  HONE_TRY(task::Task task, task_from(arguments));
  engine::RunOptions options;
  options.opponents = arguments.value("opponents", "naive");
  options.target = arguments.value("target", "cpu");
  const std::vector<std::string> targets = engine::targets_of(options.target);
  HONE_TRY_VOID(engine::check_targets(targets));
  HONE_TRY_VOID(engine::check_opponents(targets.front(), options.opponents));
  HONE_TRY_VOID(parse_budget(arguments.value("budget", "60s"), options));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in({{"target", targets.front()}, {"language", arguments.value("language", "")}}));
  options.languages = arguments.value("language", "");
  options.seed = arguments.value("seed", uint64_t{1});
  if (tune) options.strategy = search::StrategyKind::kTune;
  if (const char* const key = tune ? "source" : "start_source"; arguments.contains(key)) {
    HONE_TRY(const kernel::Kernel start, kernel_in(arguments, key, *bench, task));
    options.start_source = kernel::with_config(start, start.config);
  }
  HONE_TRY(options.models_json, models_among(models_, arguments.value("models", std::vector<std::string>{}), arguments.value("model_budget", "")));
  HONE_TRY(const engine::ModelServices models, model_services_of(options.models_json));
  const std::string id = fmt::format("{:012x}", base::secret_seed() >> 16);
  HONE_TRY_VOID(launch(id, [this, id, options, bench, models, task = std::move(task)](const std::function<bool()>& stopped) -> Status {
    HONE_TRY(archive::Store store, archive());
    HONE_TRY(engine::Services services, engine::local_services(task, store, bench, options, home_, [this] { return stopping_.load(); }));
    services.run_id = id;
    services.interrupted = stopped;
    services.models = models;
    return engine::start_run(task, options, services).map([](const engine::RunResult&) {});
  }));
  json out = {{"run", id}, {"status", "started"}, {"next", "wait with this run, or get_run"}};
  if (!options.models_json.empty()) out["models"] = models_line(options.models_json);
  return out;
}

Result<json> Workshop::resume_run(const json& arguments) {
  const std::string id = arguments.at("run");
  HONE_TRY(archive::Store store, archive());
  HONE_TRY(const archive::RunInfo info, store.run(id));
  if (info.id != id) return fail(ErrorCode::kNotFound, fmt::format("there is no run {}", id));
  if (info.status == "finished") return fail(ErrorCode::kInput, fmt::format("run {} is finished", id), "get_run shows what came of it");
  HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(info.options_json));
  if (!options.models_json.empty() && models_.empty())
    return fail(ErrorCode::kInput, "the run has language models, and none may be used here", "hone resume on the command line goes on with it; or hone mcp --models FILE");
  HONE_TRY(const engine::ModelServices models, model_services_of(options.models_json));
  HONE_TRY(task::Task task, task::parse_task(info.task_toml, "run " + id));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in({{"target", engine::targets_of(options.target).front()}, {"language", options.languages}}));
  HONE_TRY_VOID(launch(id, [this, info, options, bench, models, task = std::move(task)](const std::function<bool()>& stopped) -> Status {
    HONE_TRY(archive::Store mine, archive());
    HONE_TRY(engine::Services services, engine::local_services(task, mine, bench, options, home_, [this] { return stopping_.load(); }));
    services.interrupted = stopped;
    services.models = models;
    return engine::resume_run(info, task, services).map([](const engine::RunResult&) {});
  }));
  return json{{"run", id}, {"status", "resumed"}, {"next", "wait with this run, or get_run"}};
}

Result<json> Workshop::cancel(const json& arguments) {
  const std::string id = arguments.at("run");
  const std::scoped_lock lock(mutex_);
  const auto at = runs_.find(id);
  if (at == runs_.end()) return fail(ErrorCode::kNotFound, fmt::format("no run {} is under way here", id), "get_run says what became of it");
  *at->second.stop = true;
  return json{{"run", id}, {"status", "ending"}, {"about", "the search ends after the kernel it looks at, and its best is promoted; resume_run goes on with it"}};
}

Result<json> Workshop::get_run(const json& arguments) {
  const std::string id = arguments.at("run");
  if (!is_run_id(id)) return fail(ErrorCode::kInput, "that is no run's id: twelve hexadecimal digits");
  json out = {{"run", id}};
  bool waits = false;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto it = errors_.find(id); it != errors_.end()) return fail(ErrorCode::kInput, fmt::format("run {} failed: {}", id, it->second));
    waits = runs_.contains(id);
  }
  HONE_TRY(archive::Store store, archive());
  const auto info = store.run(id);
  if (!info) {
    if (!waits) return fail(ErrorCode::kNotFound, fmt::format("there is no run {}", id));
    out["status"] = "waiting for the machine";
    return out;
  }
  HONE_TRY(const auto events, store.events(id));
  out["status"] = info->status;
  out["task"] = info->task_name;
  out["progress"] = progress_of(events);
  if (const auto options = engine::RunOptions::from_json(info->options_json))
    out["budget"] = {{"seconds", options->budget_seconds > 0 ? json(options->budget_seconds) : json()}, {"evaluations", options->budget_evaluations > 0 ? json(options->budget_evaluations) : json()}};
  if (const json summary = json::parse(info->summary_json, nullptr, false); summary.is_object()) out["summary"] = summary;
  if (!info->champion.empty())
    if (const auto row = store.kernel(info->champion))
      if (const auto kernel = engine::kernel_from(*row))
        out["champion"] = {{"hash", info->champion}, {"source", agent::bounded(kernel::with_config(*kernel, kernel->config), size_t{12} << 10)}};
  return out;
}

Result<json> Workshop::wait(const json& arguments) {
  HONE_TRY(const double most, parse_seconds(arguments.value("budget", "60s"), kLongestWaitSeconds));
  for (int polls = 0;; ++polls) {
    HONE_TRY(json run, get_run(arguments));
    const std::string status = run.at("status");
    if (stopping_ || polls >= 4 * most || (status != "running" && status != "waiting for the machine")) return run;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

ToolResult Workshop::get_report(const json& arguments) {
  const std::string id = arguments.at("run");
  const auto work = [&]() -> Result<ToolResult> {
    HONE_TRY(archive::Store store, archive());
    HONE_TRY(const archive::RunInfo info, store.run(id));
    if (info.id != id) return fail(ErrorCode::kNotFound, fmt::format("there is no run {}", id));
    // A report names what verdicts were drawn at.
    if (info.status == "running") return fail(ErrorCode::kInput, fmt::format("run {} is under way", id), "reports are of runs that came to an end; get_run says how it is doing");
    HONE_TRY(std::string html, run_report(store, info));
    json out = {{"run", id}, {"status", info.status}, {"bytes", html.size()}};
    if (const json summary = json::parse(info.summary_json, nullptr, false); summary.is_object()) out["summary"] = summary;
    ToolResult result = tool_data(std::move(out));
    result.files.push_back({id + ".html", "text/html", std::move(html)});
    return result;
  };
  auto result = work();
  return result ? std::move(*result) : tool_failure(result.error());
}

agent::ToolTable Workshop::tools() {
  agent::ToolTable table;
  agent::add_pattern_tools(table);
  const json task_type = text_type(kMostTask), source_type = text_type(131072);
  const auto add = [&](const char* name, const char* title, const std::string& description, json input, bool read_only, std::function<Result<json>(const json&)> run) {
    agent::Tool tool;
    tool.name = name;
    tool.title = title;
    tool.description = description;
    tool.input = std::move(input);
    tool.output = {{"type", "object"}};
    tool.read_only = read_only;
    tool.run = [run = std::move(run)](const json& arguments) {
      auto out = run(arguments);
      return out ? tool_data(std::move(*out)) : tool_failure(out.error());
    };
    table.add(std::move(tool));
  };
  add("show_limits", "Limits and peaks", "A target: what it is, the limits that plans may name, its peaks, and how it times.", tool_schema({{"target", text_type(120)}, {"language", text_type(60)}}), true,
      [this](const json& a) -> Result<json> {
        HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(a));
        HONE_TRY(const std::string timing, agent::prompt(bench->timing(), {}));
        return json{{"target", bench->place().target}, {"about", bench->facts()}, {"plan", bench->limits()}, {"peaks", bench->peaks()}, {"timing", timing}};
      });
  engine::add_microbenchmark_tool(table, [this](const engine::Snippet& snippet) -> Result<engine::SnippetTimes> {
    HONE_TRY(const std::shared_ptr<engine::Workbench> bench, place_in(json::object()));
    HONE_TRY(const auto turn, this->turn(*bench));
    return engine::time_snippet(*bench->toolchain(), snippet);
  });
  const json budget_type = text_type(60, "such as 60s or 40evals; 60s where left out"), seed_type = {{"type", "integer"}, {"minimum", 0}};
  const json opponents_type = text_type(100, "a list of naive, pytorch, compile, autotune, openblas, onednn; all, or none");
  const json models_type = {{"type", "array"}, {"items", text_type(60)}, {"maxItems", 16}, {"description", "language models that propose, of those that hone mcp was started with"}};
  const json model_budget_type = text_type(60, "such as 2usd,500000tokens,40calls; never more than hone mcp was started with");
  const json run_input = tool_schema({{"run", kRunSchema}}, {"run"});
  add("start_run", "Start a search", "Searches for a fast kernel for a task. Gives back a run id at once; wait or get_run tell of it.",
      tool_schema(with_place({{"task", task_type}, {"budget", budget_type}, {"start_source", source_type}, {"opponents", opponents_type}, {"seed", seed_type},
                              {"models", models_type}, {"model_budget", model_budget_type}}), {"task"}),
      false, [this](const json& a) { return start_run(a, false); });
  add("tune_kernel", "Tune a kernel", "Searches the tunables that a kernel's header names, as a run: its id comes at once, the champion is the kernel with its best settings; the summary's gain is of pairs of it and the kernel sent.",
      tool_schema(with_place({{"task", task_type}, {"source", source_type}, {"budget", budget_type}, {"opponents", opponents_type}, {"seed", seed_type},
                              {"models", models_type}, {"model_budget", model_budget_type}}), {"task", "source"}),
      false, [this](const json& a) { return start_run(a, true); });
  add("get_run", "Look at a run", "How a run is doing; its champion, whose source can be sent back as it is, and summary when it is finished.", run_input, true,
      [this](const json& a) { return get_run(a); });
  add("wait", "Wait for a run", "As get_run, once the run came to an end or the budget of waiting is over.",
      tool_schema({{"run", kRunSchema}, {"budget", text_type(60, "such as 30s; 60s where left out, 5m at most")}}, {"run"}), true,
      [this](const json& a) { return wait(a); });
  add("cancel", "End a run", "Ends a search early: its best kernel is promoted. resume_run goes on with it.", run_input, false, [this](const json& a) { return cancel(a); });
  add("resume_run", "Go on with a run", "Goes on with a run that was cancelled, interrupted or killed.", run_input, false, [this](const json& a) { return resume_run(a); });
  const auto add_with_files = [&](const char* name, const char* title, const char* description, json input, std::function<ToolResult(const json&)> run) {
    agent::Tool tool{name, title, description, std::move(input), {{"type", "object"}}};
    tool.run = std::move(run);
    table.add(std::move(tool));
  };
  add_with_files("get_report", "Report of a run", "The report of a run that came to an end: its summary; beside the answer, as a resource in it, one HTML file that needs nothing but a browser.", run_input,
                 [this](const json& a) { return get_report(a); });
  const json kernel_input = tool_schema(with_place({{"task", task_type}, {"source", text_type(131072, "a whole kernel file, beginning with its /* hone header")}}), {"task", "source"});
  add("evaluate_kernel", "Evaluate a kernel",
      "Builds a kernel for a target, verifies it on secret inputs and odd shapes and, where the target knows time, times it against plain loops: ratios with their range, "
      "times, bounds, errors, noise. A refusal says shape, elements and line, found again on inputs made for that.",
      kernel_input, true, [this](const json& a) { return look_at(a, std::nullopt); });
  add("compare_kernels", "Compare two kernels", "Which of two kernels for a task is faster, with the interval that decides: pairs of fresh processes, timed side by side until it decides or the budget of pairs is spent; "
      "checks come on top. Says what it spent and, where INCONCLUSIVE, what would decide.",
      tool_schema(with_place({{"task", task_type}, {"a", source_type}, {"b", source_type}, {"budget", text_type(60, "such as 60s; 30s where left out, 10m at most")}}), {"task", "a", "b"}), true, [this](const json& a) { return compare(a); });
  for (const engine::LookTool& look : engine::look_tools()) {
    json input = kernel_input;
    if (look.look == engine::Look::kDisassembly) input["properties"]["loop"] = engine::loop_type();
    add(look.name, look.title, std::string(look.description) + " With what evaluate_kernel says.", std::move(input), true,
        [this, what = look.look](const json& a) { return look_at(a, what); });
  }
  const json task_input = tool_schema(with_place({{"task", text_type(kMostTask, "a task file of hone (TOML): name, inputs, outputs, compute, workloads")}}, true), {"task"});
  add("explain_task", "Explain a task", "A task's graph, what it must move and compute on each workload, and the library's kernels for it on a target. Runs nothing.", task_input, true,
      [this](const json& a) { return explain_task(a); });
  add("library_kernels", "Kernels of the library", "hone's own kernels for a task on a target, most promising first: names, or the whole file of one by its number. Plain loops are \"plain\".",
      tool_schema(with_place({{"task", task_type}, {"number", {{"type", "integer"}, {"minimum", 0}, {"maximum", 1000}}}, {"plain", {{"type", "boolean"}}}}), {"task"}), true,
      [this](const json& a) { return library_kernels(a); });
  add("search_memory", "Search earlier runs", "Finished runs whose task, champion or lessons hold all words of the query (ten at most, two with their kernels); with a task also what "
      "was learnt on it and on similar ones.",
      tool_schema(with_place({{"query", text_type(200)}, {"task", task_type}})), true, [this](const json& a) { return search_memory(a); });
  add_with_files("export_kernel", "Export a kernel",
                 "A finished run's champion, or any kernel that is accepted for a task, as files that need no hone: a C++ header and source of a CPU kernel, else the kernel's own file. "
                 "The files come beside the answer, as resources in it.",
                 tool_schema(with_place({{"run", kRunSchema}, {"task", task_type}, {"source", source_type}})), [this](const json& a) { return export_kernel(a); });
  return table;
}

}  // namespace hone::face::mcp
