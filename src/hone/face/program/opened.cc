#include "hone/face/program/opened.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/engine/run.h"
#include "hone/face/cli/text.h"
#include "hone/pattern/library.h"
#include "hone/program/aten.h"
#include "hone/program/normalise.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/card_peaks.h"
#include "hone/task/graph/cost.h"

namespace hone::face {
namespace {

using base::Json;
using program::Region;
using program::Step;

/// Of a card what its data sheet and its memory's clock allow.
target::CpuPeaks peaks_of(const target::CardInfo& card) {
  target::CpuPeaks peaks = target::card_peaks(card);
  peaks.read = peaks.write = peaks.copy = target::card_memory_peak(card);
  return peaks;
}

/// Bytes that a task's steps need not read from memory: weights and other values that several of them have in common are read once.
double bytes_shared(const OpenedProgram& opened, const program::CutTask& task) {
  double bytes = 0;
  for (size_t input = 0; input < task.task.inputs.size(); ++input) {
    std::set<int> values;
    for (const int step : task.steps) values.insert(opened.plan.steps[static_cast<size_t>(step)].inputs[input]);
    bytes += static_cast<double>(task.steps.size() - values.size()) * static_cast<double>(opened.program.nodes[static_cast<size_t>(*values.begin())].type().bytes());
  }
  return bytes;
}

Result<TaskPrice> price_of(const OpenedProgram& opened, const program::CutTask& cut, const target::CpuPeaks& peaks, kernel::Language language) {
  TaskPrice price;
  const task::Task& task = cut.task;
  HONE_TRY(const auto graph, task::instantiate(task.primitive, task.workloads.front().bindings));
  task::Cost cost = task::minimal_cost(graph);
  cost.bytes_read = std::max(0.0, cost.bytes_read - bytes_shared(opened, cut) / static_cast<double>(cut.steps.size()));
  price.least_ns = std::max(target::memory_ns(cost, peaks), target::compute_ns(cost, task.track, peaks));
  std::vector<std::string> why_not;
  const auto offers = pattern::offers(task, language, why_not);
  if (!offers.empty()) price.pattern = offers.front().pattern;
  else price.why_not = fmt::format("{}", fmt::join(why_not, "; "));
  return price;
}

/// Tasks from the one whose least time, as often as it runs, is longest.
std::vector<size_t> by_weight(const OpenedProgram& opened) {
  std::vector<size_t> order(opened.plan.tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return opened.prices[a].least_ns * opened.multiplicity(a) > opened.prices[b].least_ns * opened.multiplicity(b); });
  return order;
}

std::string operations_of(const OpenedProgram& opened, const Step& step) {
  std::vector<std::string> names;
  for (const int id : step.body)
    if (const std::string& op = opened.program.nodes[static_cast<size_t>(id)].op; op != "getitem" && (names.empty() || names.back() != op)) names.push_back(op);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string name_of_value(const OpenedProgram& opened, int id) {
  const program::Node& node = opened.program.nodes[static_cast<size_t>(id)];
  return node.is_input() && node.role != program::Role::kUser ? node.target : node.name;
}

std::string values_text(const OpenedProgram& opened, const std::vector<int>& nodes) {
  std::vector<std::string> all;
  for (const int id : nodes) all.push_back(fmt::format("\"{}\"", name_of_value(opened, id)));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

}  // namespace

double OpenedProgram::least_ns() const {
  double sum = 0;
  for (size_t i = 0; i < prices.size(); ++i) sum += prices[i].least_ns * multiplicity(i);
  return sum;
}

double OpenedProgram::covered_share() const {
  double sum = 0;
  for (size_t i = 0; i < prices.size(); ++i)
    if (!prices[i].pattern.empty()) sum += prices[i].least_ns * multiplicity(i);
  const double all = least_ns();
  return all > 0 ? sum / all : 0;
}

int OpenedProgram::steps(Region::Kind kind) const {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) { return step.kind == kind; }));
}

Status check_program_target(const std::string& target) {
  if (target == "cpu" || (target::card_driver(target) == "cuda" && target::card_ordinal(target))) return {};
  return fail(ErrorCode::kUsage, fmt::format("programs run on the cpu or on one NVIDIA card, not on {}", target), "for example --target cuda:0");
}

Result<program::Program> understood(evaluate::ProgramSession& session) {
  HONE_TRY(program::Program whole, program::read_program(session.capture()));
  HONE_TRY(whole, program::normalise(std::move(whole)));
  std::set<std::string> names = program::without_words(whole);
  std::map<std::string, std::string> kept;
  while (!names.empty()) {
    HONE_TRY_VOID(session.take_apart(names, program::known_operators()));
    HONE_TRY(program::Program apart, program::read_program(session.capture()));
    HONE_TRY(apart, program::normalise(std::move(apart)));
    const std::map<std::string, std::string> vain = program::apart_for_nothing(apart, program::cut(apart));
    if (vain.empty()) {
      apart.kept = std::move(kept);
      return apart;
    }
    const size_t before = names.size();
    for (const auto& [name, why] : vain) names.erase(name);
    kept.insert(vain.begin(), vain.end());
    if (names.size() == before) break;  // a process that answers anything
    if (names.empty()) HONE_TRY_VOID(session.take_apart(names, {}));
  }
  whole.kept = std::move(kept);
  return whole;
}

Result<OpenedProgram> open_program(std::unique_ptr<evaluate::ProgramSession> session, const engine::RunOptions& options) {
  OpenedProgram opened;
  const bool on_card = options.target != "cpu";
  if (on_card) {
    HONE_TRY(opened.bench, engine::workbench_of(options));
  }
  opened.session = std::move(session);
  HONE_TRY(opened.program, understood(*opened.session));
  opened.plan = program::plan_program(opened.program, program::cut(opened.program));
  const target::CpuPeaks peaks = on_card ? peaks_of(opened.bench->target().card()->info()) : target::cpu_peaks(options.threads);
  for (const program::CutTask& task : opened.plan.tasks) {
    HONE_TRY(TaskPrice price, price_of(opened, task, peaks, on_card ? kernel::Language::kCuda : kernel::Language::kCpp));
    opened.prices.push_back(std::move(price));
  }
  return opened;
}

std::string cut_text(const OpenedProgram& opened) {
  const double all = opened.least_ns();
  std::string text = fmt::format("{}: {} operators, cut into {} steps: {} of {} distinct tasks, {} of PyTorch's, {} folded into the weights\n", opened.program.name,
                                 opened.program.nodes.size() - static_cast<size_t>(std::count_if(opened.program.nodes.begin(), opened.program.nodes.end(),
                                                                                                 [](const program::Node& node) { return node.is_input(); })),
                                 opened.plan.steps.size(), opened.steps(Region::Kind::kTask), opened.plan.tasks.size(), opened.steps(Region::Kind::kEager),
                                 opened.steps(Region::Kind::kFold));
  Table table({"task", "times", "least", "share", "pattern", "inputs", "outputs"});
  for (const size_t i : by_weight(opened)) {
    const task::Task& task = opened.plan.tasks[i].task;
    const TaskPrice& price = opened.prices[i];
    const auto shapes = [](const auto& list, auto type_of) {
      std::vector<std::string> all_types;
      for (const auto& one : list) all_types.push_back(type_of(one));
      return fmt::format("{}", fmt::join(all_types, " "));
    };
    table.add({task.name, fmt::format("{}", opened.plan.tasks[i].steps.size()), time_text(price.least_ns),
               fmt::format("{:.0f} %", all > 0 ? 100 * price.least_ns * opened.multiplicity(i) / all : 0), price.pattern.empty() ? "none" : price.pattern,
               shapes(task.inputs, [](const task::InputSpec& input) { return input.constant ? std::string("w") : input.type.to_string(); }),
               shapes(task.outputs, [](const auto& output) { return output.second.to_string(); })});
  }
  text += table.to_string();
  text += fmt::format("  the least time of all tasks: {}; patterns cover {:.0f} % of it\n", time_text(all), 100 * opened.covered_share());
  for (size_t i = 0; i < opened.prices.size(); ++i)
    if (opened.prices[i].pattern.empty()) text += fmt::format("  no pattern for {}: {}\n", opened.plan.tasks[i].task.name, opened.prices[i].why_not);
  for (const program::WrittenOut& written : opened.plan.written) {
    const auto begin = opened.plan.steps.begin() + written.first;
    text += fmt::format("  {}: written out as {} steps, of which {} are tasks'; PyTorch's {} runs in their place where it is faster\n", written.name, written.count,
                        std::count_if(begin, begin + written.count, [](const Step& step) { return step.task >= 0; }),
                        opened.program.wholes[static_cast<size_t>(written.whole)].node.op);
  }
  std::map<std::string, int> eager;
  std::vector<std::string> reasons;   // as they come
  for (const Step& step : opened.plan.steps) {
    if (step.kind != Region::Kind::kEager) continue;
    std::string why = step.why == program::kView ? operations_of(opened, step) : step.why;
    if (eager[why]++ == 0) reasons.push_back(std::move(why));
  }
  for (const std::string& why : reasons) text += fmt::format("  PyTorch's: {}{}\n", why, eager[why] > 1 ? fmt::format(" ({} times)", eager[why]) : std::string());
  return text;
}

Json cut_json(const OpenedProgram& opened) {
  Json tasks = Json::array(), eager = Json::array(), written = Json::array();
  for (const size_t i : by_weight(opened)) {
    const TaskPrice& price = opened.prices[i];
    tasks.push_back({{"task", opened.plan.tasks[i].task.name}, {"hash", opened.plan.tasks[i].task.hash()}, {"multiplicity", opened.plan.tasks[i].steps.size()},
                     {"bound_ns", price.least_ns}, {"pattern", price.pattern.empty() ? Json() : Json(price.pattern)}});
  }
  for (const Step& step : opened.plan.steps)
    if (step.kind == Region::Kind::kEager) eager.push_back({{"operators", operations_of(opened, step)}, {"why", step.why}});
  for (const program::WrittenOut& one : opened.plan.written)
    written.push_back({{"name", one.name}, {"operator", opened.program.wholes[static_cast<size_t>(one.whole)].node.op}, {"steps", one.count}});
  return {{"program", opened.program.name}, {"tasks", tasks}, {"eager", eager}, {"written_out", written}, {"folded", opened.steps(Region::Kind::kFold)}, {"bound_ns", opened.least_ns()},
          {"covered", opened.covered_share()}};
}

Status write_cut(const OpenedProgram& opened, const std::filesystem::path& folder) {
  HONE_TRY_VOID(base::make_directories(folder / "tasks"));
  for (const program::CutTask& cut : opened.plan.tasks) {
    const task::Task& task = cut.task;
    const auto file_of = [&](const task::InputSpec& input) { return fmt::format("{}.{}.npy", task.name, input.name); };
    for (const task::InputSpec& input : task.inputs)
      if (input.values) HONE_TRY_VOID(base::write_file_atomic(folder / "tasks" / file_of(input), task::npy_of(*input.values, input.type.dtype)));
    HONE_TRY_VOID(base::write_file_atomic(folder / "tasks" / (task.name + ".toml"), task.to_toml(file_of)));
  }
  std::string text = fmt::format("# A PyTorch program, cut into tasks (tasks/NAME.toml): what hone explain shows.\nname = \"{}\"\ntorch = \"{}\"\ntrain = {}\n", opened.program.name,
                                 opened.program.torch, opened.program.train);
  for (const Step& step : opened.plan.steps) {
    text += "\n[[step]]\n";
    if (step.task >= 0) text += fmt::format("task = \"{}\"\n", opened.plan.tasks[static_cast<size_t>(step.task)].task.name);
    else text += fmt::format("{} = \"{}\"\n", step.kind == Region::Kind::kFold ? "fold" : "pytorch", operations_of(opened, step));
    text += fmt::format("inputs = {}\noutputs = {}\n", values_text(opened, step.inputs), values_text(opened, step.outputs));
  }
  return base::write_file_atomic(folder / (opened.program.name + ".program.toml"), text);
}

}  // namespace hone::face
