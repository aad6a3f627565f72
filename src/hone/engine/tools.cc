#include "hone/engine/tools.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "hone/agent/answer.h"
#include "hone/agent/model/message.h"
#include "hone/agent/prompt.h"
#include "hone/base/fields.h"
#include "hone/base/hash.h"
#include "hone/diagnose/profile/code.h"
#include "hone/engine/consult.h"
#include "hone/engine/memory.h"
#include "hone/engine/recall.h"

namespace hone::engine {
namespace {

using agent::tool_data;
using agent::tool_failure;
using agent::tool_schema;
using agent::ToolResult;
using kernel::Kernel;
using nlohmann::json;

constexpr size_t kMostFound = 10, kSourcesShown = 2, kSourceShown = size_t{3} << 10, kMostRuns = 1000;
constexpr int kMostKernel = 131072;
constexpr size_t kDetailShown = size_t{4} << 10;

std::string lower(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

json profiles_json(const std::vector<diagnose::Profile>& profiles, size_t& left_out) {
  std::vector<const diagnose::Profile*> order;
  for (const diagnose::Profile& profile : profiles) order.push_back(&profile);
  const auto to_win = [](const diagnose::Profile* p) { return -p->weight * std::log(std::clamp(p->metrics.get_or("light", 1), 1e-6, 1.0)); };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return to_win(a) > to_win(b); });
  left_out = order.size() - std::min(order.size(), kMostProfiles);
  order.resize(order.size() - left_out);
  json all = json::array();
  for (const diagnose::Profile* profile : order) all.push_back({{"workload", profile->workload}, {"metrics", diagnose::to_json(profile->metrics)}});
  return all;
}

Status add_disassembly(evaluate::Evaluator& evaluator, const Kernel& kernel, size_t loop, json& out) {
  HONE_TRY(const target::BuildOutcome outcome, evaluator.build(kernel));
  const auto* const build = std::get_if<target::Build>(&outcome);
  if (!build) return fail(ErrorCode::kInput, std::get<target::BuildFailure>(outcome).reason);
  HONE_TRY(const diagnose::HotLoop hot, diagnose::hot_loop(*build, loop));
  const diagnose::Mix& mix = hot.loop.mix;
  const size_t all = hot.loop.code.size();
  out["function"] = agent::one_line(hot.loop.function, 200);
  out["innermost_loops"] = hot.loops.size();
  out["loop"] = loop;
  double weights = 0;
  for (const diagnose::Loop& one : hot.loops) weights += one.weight;
  out["loops"] = json::array();
  for (size_t i = 0; i < hot.loops.size() && i < kMostLoops; ++i) {
    const diagnose::Loop& one = hot.loops[i];
    out["loops"].push_back({{"loop", i}, {"function", agent::one_line(one.function, 80)}, {"instructions", one.code.size()}, {"share", std::round(1e3 * one.weight / weights) / 1e3},
                            {"vector", one.mix.vector}, {"scalar_float", one.mix.scalar_float}, {"fma", one.mix.fma}, {"call", one.mix.call}});
  }
  out["code"] = agent::bounded(diagnose::loop_text(hot.loop, kMostInstructions), size_t{9} << 10);
  out["instructions"] = all;
  out["left_out"] = all - std::min(all, kMostInstructions);
  out["mix"] = {{"vector", mix.vector}, {"mean_vector_bytes", mix.mean_width()}, {"scalar_float", mix.scalar_float}, {"fma", mix.fma},
                {"divide", mix.divide}, {"gather", mix.gather}, {"call", mix.call}, {"load", mix.load}, {"store", mix.store},
                {"stream_store", mix.stream_store}, {"spill", mix.spill}};
  out["about"] = "an innermost loop (\"loop\": its rank in \"loops\", 0 the heaviest); share: of what the instructions of all of them move an iteration; where time goes was not sampled";
  if (hot.ports)
    out["ports"] = {{"origin", "modelled"}, {"cycles", hot.ports->cycles}, {"port_cycles", hot.ports->throughput},
                    {"instructions_per_cycle", hot.ports->instructions}};
  else
    out["ports"] = {{"origin", "absent"}, {"why", agent::one_line(hot.no_ports, 200)}};
  return {};
}

json source_type() { return {{"type", "string"}, {"maxLength", kMostKernel}, {"description", "a whole kernel file, beginning with its /* hone header"}}; }

}  // namespace

json loop_type() { return {{"type", "integer"}, {"minimum", 0}, {"maximum", 1000}, {"description", "rank of an innermost loop, 0 the heaviest; 0 where left out"}}; }

const std::vector<LookTool>& look_tools() {
  static const std::vector<LookTool> all = {
      {Look::kProfile, "profile_kernel", "Profile a kernel",
       "Metrics of a kernel on each workload: its times against the speed of light, its code, its plan; each measured, modelled or absent."},
      {Look::kDisassembly, "read_disassembly", "Read the hot loop",
       "Machine code of a kernel's heaviest innermost loop, or of another by its rank; its instruction mix, cycles an iteration as llvm-mca models them, and a list of all loops."},
      {Look::kDiagnosis, "diagnose", "Diagnose a kernel",
       "What hone's rules say of a kernel: the bottleneck, its evidence in metrics, and actions worth trying with the gain each is predicted."}};
  return all;
}

Status add_look(Look look, evaluate::Evaluator& evaluator, const Kernel& kernel, const Examine& examine, bool thorough, json& out, size_t loop) {
  if (look == Look::kDisassembly) return add_disassembly(evaluator, kernel, loop, out);
  if (!examine) return fail(ErrorCode::kUnavailable, "nobody here can look at kernels that closely");
  HONE_TRY(const Examined examined, examine(evaluator, kernel, thorough));
  if (!examined.verdict.accepted()) return fail(ErrorCode::kInput, "the kernel was refused: " + evaluate::told(examined.verdict).reason);
  if (look == Look::kDiagnosis) {
    out["diagnosis"] = diagnose::to_json(examined.diagnosis);
    out["diagnosed_workload"] = examined.workload;
    return {};
  }
  size_t left_out = 0;
  out["metrics"] = profiles_json(examined.profiles, left_out);
  out["left_out"] = left_out;
  return {};
}

Result<json> search_memory(archive::Store& store, const MemoryQuery& query) {
  std::vector<std::string> words;
  std::stringstream text(query.words);
  for (std::string word; text >> word;) words.push_back(lower(word));
  HONE_TRY(const auto runs, store.runs(kMostRuns));
  json found = json::array();
  int left_out = 0;
  for (const archive::RunInfo& run : runs) {
    if (run.status != "finished" || run.champion.empty() || run.id == query.run) continue;
    std::string about = run.task_name + " " + run.task_toml;
    const auto row = store.kernel(run.champion);
    if (row) about += " " + row->action + " " + row->note;
    const auto lessons = store.fact(lessons_key(run.task_hash));
    if (lessons && *lessons) about += " " + **lessons;
    about = lower(std::move(about));
    if (!std::all_of(words.begin(), words.end(), [&](const std::string& w) { return about.find(w) != std::string::npos; })) continue;
    if (found.size() >= kMostFound) {
      ++left_out;
      continue;
    }
    const json summary = json::parse(run.summary_json, nullptr, false);
    json entry = {{"run", run.id}, {"task", run.task_name}, {"champion", run.champion}, {"action", row ? row->action : ""}};
    if (summary.is_object()) {
      entry["gain"] = summary.value("gain", json());
      // Of the same in records of earlier versions.
      entry["quick_looks_over_first"] = summary.value("quick_looks_over_first", summary.value("gain_over_first", json()));
    }
    if (lessons && *lessons)
      if (json said = json::parse(**lessons, nullptr, false); said.is_array()) {
        // The newest are last.
        while (said.size() > 6) said.erase(said.begin());
        entry["lessons"] = std::move(said);
      }
    if (row && found.size() < kSourcesShown)
      if (const auto kernel = kernel_from(*row)) entry["source"] = agent::bounded(kernel::with_config(*kernel, kernel->config), kSourceShown);
    found.push_back(std::move(entry));
  }
  json out = {{"found", std::move(found)}, {"left_out", left_out}, {"similar", nullptr}};
  if (!query.near) return out;
  const RunMemory memory(*query.near, query.place, query.seeds, query.limits);
  HONE_TRY(auto recalled, memory.recall(store, query.run, query.now_unix_ms, 0));
  if (!recalled) return out;
  for (event::Recalled::First& first : recalled->first)
    if (first.text) first.text = agent::bounded(*first.text, kSourceShown);
  out["similar"] = {{"contexts", base::json_of(recalled->contexts)}, {"first", base::json_of(recalled->first)}};
  return out;
}

void add_microbenchmark_tool(agent::ToolTable& table, TimeSnippet time) {
  agent::Tool tool;
  tool.name = "microbenchmark";
  tool.title = "Time a snippet";
  tool.description =
      "Times the body of void snippet(const float* __restrict x, float* __restrict y, int64_t n) on one thread, in nanoseconds a call. "
      "x is in [0.5, 1.5), y begins as zeros. hone's device headers are there, as in a kernel. No verdict, and not a candidate.";
  const auto integer = [](int64_t most, const char* about) { return json{{"type", "integer"}, {"minimum", 1}, {"maximum", most}, {"description", about}}; };
  tool.input = tool_schema({{"body", {{"type", "string"}, {"minLength", 1}, {"maxLength", kMostSnippet}}},
                            {"declarations", {{"type", "string"}, {"maxLength", kMostSnippet}, {"description", "what stands before the function"}}},
                            {"elements", integer(kMostSnippetElements, "n; 4096 where left out")},
                            {"iterations", integer(kMostSnippetIterations, "calls timed together; 1000 where left out")}}, {"body"});
  tool.output = {{"type", "object"}};
  tool.for_models = true;
  tool.run = [time = std::move(time)](const json& arguments) {
    Snippet snippet;
    snippet.body = arguments.at("body");
    snippet.declarations = arguments.value("declarations", "");
    snippet.elements = arguments.value("elements", snippet.elements);
    snippet.iterations = arguments.value("iterations", snippet.iterations);
    const auto times = time(snippet);
    if (!times) return tool_failure(times.error());
    ToolResult result = tool_data(to_json(*times));
    result.failed = !times->problem.empty();
    return result;
  };
  table.add(std::move(tool));
}

agent::ToolTable run_tools(RunTools on) {
  agent::ToolTable tools;
  agent::add_pattern_tools(tools);
  agent::add_limits_tool(tools, on.limits);
  if (on.microbenchmark) add_microbenchmark_tool(tools, on.microbenchmark);

  agent::Tool evaluate;
  evaluate.name = "evaluate_kernel";
  evaluate.title = "Evaluate a draft";
  evaluate.description = "Builds and checks a draft of a kernel (the whole file), and times it against the run's yardstick. Says the verdict and why; of an "
                         "accepted one the time of a call beside its bound (ns, a workload each), how many times as fast as the run's best kernel it "
                         "is, and the largest error beside the largest allowed.";
  evaluate.input = tool_schema({{"source", {{"type", "string"}, {"maxLength", kMostKernel}}}}, {"source"});
  evaluate.for_models = true;
  evaluate.run = [on](const json& arguments) {
    const auto kernel = agent::foreign_kernel(arguments.at("source").get<std::string>(), on.language);
    if (!kernel) return tool_failure(kernel.error().problem);
    const auto evaluator = on.evaluator();
    if (!evaluator) return tool_failure(evaluator.error());
    const auto screening = (*evaluator)->screen(*kernel);
    if (!screening) return tool_failure(screening.error());
    const evaluate::Verdict& verdict = screening->verdict;
    const double score = verdict.accepted() ? on.score_of(*screening) : 0;
    const auto said = (*evaluator)->explain(*kernel, verdict);
    if (!said) return tool_failure(said.error());
    json data = {{"verdict", evaluate::name_of(verdict.kind)}, {"reason", said->reason}, {"detail", said->detail}, {"score", score}};
    if (verdict.accepted()) {
      // Against the best of the run, and as times: what `score` is over, nobody remembers.
      if (const double best = on.best_score(); best > 0) data["times_the_best"] = score / best;
      data["call_ns"] = screening->median_ns;
      data["bound_ns"] = on.bounds_ns;
      if (const auto& a = verdict.accuracy) data["largest_error"] = a->candidate, data["largest_error_allowed"] = a->bound;
    }
    return tool_data(std::move(data));
  };
  tools.add(std::move(evaluate));

  for (const LookTool& look : look_tools()) {
    if (look.look != Look::kDisassembly && !on.examine) continue;
    agent::Tool tool;
    tool.name = look.name;
    tool.title = look.title;
    tool.description = std::string(look.description) + " The best kernel of this run, where neither a draft's source nor a kernel's hash is given.";
    tool.input = tool_schema({{"source", source_type()}, {"kernel", {{"type", "string"}, {"pattern", "^(best|[0-9a-f]{12,64})$"},
                              {"description", "\"best\", or the hash of an accepted kernel of this run"}}}});
    if (look.look == Look::kDisassembly) tool.input["properties"]["loop"] = loop_type();
    tool.for_models = true;
    tool.run = [on, what = look.look](const json& arguments) -> ToolResult {
      const auto work = [&]() -> Result<json> {
        if (arguments.contains("source") && arguments.contains("kernel")) return fail(ErrorCode::kInput, "give a source or a kernel, not both");
        HONE_TRY(evaluate::Evaluator * evaluator, on.evaluator());
        json out;
        std::optional<Kernel> kernel;
        if (arguments.contains("source")) {
          auto draft = agent::foreign_kernel(arguments.at("source").get<std::string>(), on.language);
          if (!draft) return fail(ErrorCode::kInput, draft.error().problem);
          // A draft is judged first, as any other: what is not right is not timed.
          HONE_TRY(const evaluate::Screening screening, evaluator->screen(*draft));
          if (!screening.verdict.accepted()) {
            HONE_TRY(const evaluate::Explanation said, evaluator->explain(*draft, screening.verdict));
            return json{{"verdict", evaluate::name_of(screening.verdict.kind)}, {"reason", said.reason}, {"detail", agent::bounded(said.detail, kDetailShown)}};
          }
          out["verdict"] = evaluate::name_of(screening.verdict.kind);
          kernel = std::move(*draft);
        } else {
          const std::string wanted = arguments.value("kernel", "best");
          const Kernel* const known = on.kernel_of(wanted);
          if (!known) return fail(ErrorCode::kNotFound, wanted == "best" ? "no kernel was accepted yet" : "this run has no accepted kernel of that hash");
          kernel = *known;
        }
        out["kernel"] = kernel->hash();
        HONE_TRY_VOID(add_look(what, *evaluator, *kernel, on.examine, false, out, arguments.value("loop", size_t{0})));
        return out;
      };
      auto out = work();
      return out ? tool_data(std::move(*out)) : tool_failure(out.error());
    };
    tools.add(std::move(tool));
  }

  if (on.memory) {
    agent::Tool tool;
    tool.name = "search_memory";
    tool.title = "Search earlier runs";
    tool.description = "Earlier runs whose task, champion or lessons hold all words of the query (ten at most, two with their kernels), and what was "
                       "learnt on this task and on similar ones.";
    tool.input = tool_schema({{"query", {{"type", "string"}, {"maxLength", 200}}}});
    tool.for_models = true;
    tool.run = [memory = on.memory](const json& arguments) {
      auto found = memory(arguments.value("query", ""));
      return found ? tool_data(std::move(*found)) : tool_failure(found.error());
    };
    tools.add(std::move(tool));
  }
  return tools;
}

}  // namespace hone::engine
