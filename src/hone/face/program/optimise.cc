#include "hone/face/program/optimise.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/engine/recall.h"
#include "hone/evaluate/compare/compare.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/display.h"
#include "hone/face/cli/text.h"
#include "hone/face/program/package.h"
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

using base::Json;
using evaluate::OutputCheck;
using evaluate::OutputOff;
using evaluate::ProgramSession;
using evaluate::StepTime;
using program::Region;

constexpr double kLeastSeconds = 5;    ///< of a task's search: what screening a first kernel takes
constexpr int kSets = 6, kWeights = 3; ///< draws of inputs, the given ones among them; of weights

/// One task's way to its kernel.
struct TaskResult {
  double seconds = 0;            ///< of search
  std::string run, champion, note;
  StepTime time;                 ///< of all its steps together
  bool used = false;
};

/// The composed program and one of PyTorch's ways, in turns: times of different sessions are never compared.
struct Duel {
  evaluate::Ratio ratio;
  evaluate::Comparison comparison = evaluate::Comparison::kInconclusive;
  double ours_ns = 0, theirs_ns = 0;
  [[nodiscard]] std::string to_string() const {
    return fmt::format("{} against {}: {} {}", time_text(ours_ns), time_text(theirs_ns), ratio_text(ratio), evaluate::name_of(comparison));
  }
  [[nodiscard]] Json to_json() const {
    return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? Json(ratio.high) : Json()},
            {"comparison", evaluate::name_of(comparison)}, {"ours_ns", ours_ns}, {"theirs_ns", theirs_ns}};
  }
};

/// What the whole of it came to.
struct Whole {
  std::string checked;           ///< "8 draws, 12 outputs"
  Duel eager, compiled;
  std::string no_compiler;       ///< why torch.compile did not take part
};

class ProgramRun {
 public:
  ProgramRun(OpenedProgram opened, const OptimizeArguments& arguments, engine::RunOptions options)
      : opened_(std::move(opened)), arguments_(arguments), options_(std::move(options)), results_(opened_.plan.tasks.size()) {}

  Result<int> run() {
    HONE_TRY(constants_, base::read_file(opened_.session->constants()));
    folder_ = home() / "programs" / fmt::format("{}-{}", opened_.program.name, base::short_hash(base::content_hash(opened_.session->capture())));
    HONE_TRY_VOID(write_cut(opened_, folder_));
    say(cut_text(opened_));
    HONE_TRY(const auto plain, compose("plain", {}));
    HONE_TRY_VOID(look_at_steps());
    HONE_TRY_VOID(optimise_tasks());
    HONE_TRY(const auto refusals, compose(package_name(), kernels_));
    for (const auto& [task, reason] : refusals) result_of(task).note = "does not run: " + reason;
    HONE_TRY_VOID(choose());
    HONE_TRY_VOID(check());
    HONE_TRY_VOID(measure());
    HONE_TRY_VOID(write_plan());
    if (!arguments_.package.empty()) HONE_TRY_VOID(export_to(arguments_.package));
    report();
    return kernels_in_use() > 0 ? 0 : 1;
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    fmt::print(arguments_.json ? stderr : stdout, format, std::forward<Args>(args)...);
    std::fflush(stdout);
  }
  void say(const std::string& text) const { say("{}", text); }

  [[nodiscard]] std::string package_name() const { return opened_.program.name + "_hone"; }
  [[nodiscard]] const task::Task& task(size_t i) const { return opened_.plan.tasks[i].task; }
  TaskResult& result_of(const std::string& name) {
    for (size_t i = 0; i < results_.size(); ++i)
      if (task(i).name == name) return results_[i];
    HONE_CHECK(false, name);
  }
  [[nodiscard]] std::vector<std::string> names_in_use() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].used) names.push_back(task(i).name);
    return names;
  }
  [[nodiscard]] size_t kernels_in_use() const { return names_in_use().size(); }

  Result<std::vector<ExportedFile>> package(const std::string& name, const std::map<int, ProgramKernel>& kernels) const {
    ProgramPackage package;
    package.name = name;
    package.kernels = kernels;
    package.constants = constants_;
    package.notes = notes_;
    return program_package(opened_.program, opened_.plan, package);
  }

  static Status write(const std::vector<ExportedFile>& files, const std::filesystem::path& folder) {
    for (const ExportedFile& file : files) {
      HONE_TRY_VOID(base::make_directories((folder / file.name).parent_path()));
      HONE_TRY_VOID(base::write_file_atomic(folder / file.name, file.content));
    }
    return {};
  }

  /// The program made of `kernels` and PyTorch's operators, in the program's process; where a kernel does not run.
  Result<std::map<std::string, std::string>> compose(const std::string& name, const std::map<int, ProgramKernel>& kernels) {
    HONE_TRY(const auto files, package(name, kernels));
    HONE_TRY_VOID(write(files, opened_.session->folder()));
    return opened_.session->compose(name);
  }

  /// Times by task, of all its steps.
  Result<std::vector<StepTime>> task_times(const std::vector<std::string>& names) {
    HONE_TRY(const auto times, opened_.session->step_times(names, 4));
    std::vector<StepTime> all(results_.size());
    int number = 0;  // of the steps that run, which folds are not
    for (const program::Step& step : opened_.plan.steps) {
      if (step.kind == Region::Kind::kFold) continue;
      const auto it = times.find(std::to_string(number++));
      if (it == times.end() || step.task < 0) continue;
      all[static_cast<size_t>(step.task)].eager_ns += it->second.eager_ns;
      all[static_cast<size_t>(step.task)].kernel_ns += it->second.kernel_ns;
    }
    return all;
  }

  Status look_at_steps() {
    HONE_TRY(const auto times, task_times({}));
    for (size_t i = 0; i < results_.size(); ++i) results_[i].time = times[i];
    return {};
  }

  /// What PyTorch takes above the least time, as often as the task runs.
  [[nodiscard]] std::vector<double> gains() const {
    std::vector<double> all;
    for (size_t i = 0; i < results_.size(); ++i) {
      const double gap = results_[i].time.eager_ns - opened_.prices[i].least_ns * opened_.multiplicity(i);
      all.push_back(opened_.prices[i].pattern.empty() ? 0 : std::max(gap, 0.0));
    }
    return all;
  }

  Status optimise_tasks() {
    const std::vector<double> gain = gains();
    const std::vector<double> seconds = share_budget(gain, options_.budget_seconds, kLeastSeconds);
    std::vector<size_t> order(results_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gain[a] > gain[b]; });
    HONE_TRY(archive::Store store, open_archive());
    HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::workbench_of(options_));
    for (const size_t i : order) {
      results_[i].seconds = seconds[i];
      if (seconds[i] <= 0) {
        results_[i].note = opened_.prices[i].pattern.empty() ? "no pattern covers it" : gain[i] <= 0 ? "PyTorch takes no longer than the least time" : "no budget left for what it may gain";
        continue;
      }
      if (interrupted()) {
        results_[i].note = "interrupted";
        continue;
      }
      HONE_TRY_VOID(optimise_task(i, store, bench));
      say("  {}: {}\n", task(i).name, results_[i].note);
    }
    return {};
  }

  /// A failure is this task's alone.
  Status optimise_task(size_t i, archive::Store& store, const std::shared_ptr<engine::Workbench>& bench) {
    engine::RunOptions options = options_;
    options.budget_seconds = results_[i].seconds;
    options.sampling_seconds = std::clamp(results_[i].seconds / 4, 1.0, 20.0);
    options.opponents = arguments_.opponents == "all" ? "none" : arguments_.opponents;  // the whole meets PyTorch
    TaskResult& result = results_[i];
    auto services = engine::local_services(task(i), store, bench, options, home(), hurried);
    if (!services) {
      result.note = services.error().message;
      return {};
    }
    services->interrupted = interrupted;
    Display display;
    services->progress = [&](const engine::Progress& progress) { display.update(progress); };
    const auto found = engine::start_run(task(i), options, *services);
    if (!found) {
      result.note = found.error().to_string();
      return {};
    }
    result.run = found->run;
    result.champion = found->champion;
    if (found->champion.empty()) {
      result.note = fmt::format("no champion (run {} ended by {})", found->run, found->reason);
      return {};
    }
    HONE_TRY(const archive::KernelRow row, store.kernel(found->champion));
    HONE_TRY(kernel::Kernel kernel, engine::kernel_from(row));
    TorchOptions torch;
    torch.common.limits = target::cpu_limits(target::cpu_info());
    torch.common.isa = target::cpu_info().isa;
    torch.common.specialised = task(i).workloads.front().bindings;
    if (!kernel.header.pattern.empty()) torch.common.alignment = 0;
    torch.verified = engine::Place{services->target, services->device, services->toolchain};
    kernels_[static_cast<int>(i)] = {std::move(kernel), std::move(torch)};
    result.note = fmt::format("champion {} of run {}", base::short_hash(found->champion), found->run);
    return {};
  }

  /// Kernels that are faster in their place are used.
  Status choose() {
    std::vector<std::string> names;
    for (const auto& [i, kernel] : kernels_)
      if (results_[static_cast<size_t>(i)].note.find("does not run") == std::string::npos) names.push_back(task(static_cast<size_t>(i)).name);
    if (names.empty()) return {};
    HONE_TRY(const auto times, task_times(names));
    for (const std::string& name : names) {
      for (size_t i = 0; i < results_.size(); ++i) {
        if (task(i).name != name) continue;
        results_[i].time = times[i];
        results_[i].used = times[i].kernel_ns < times[i].eager_ns;
        if (!results_[i].used) results_[i].note += "; no faster in its place";
      }
    }
    return use(names_in_use());
  }

  Status use(const std::vector<std::string>& names) {
    std::map<std::string, bool> all;
    for (size_t i = 0; i < results_.size(); ++i) all[task(i).name] = std::find(names.begin(), names.end(), task(i).name) != names.end();
    return opened_.session->use(all);
  }

  /// Every draw of inputs, and of weights; the reason for the first output that is off, empty where all is right.
  Result<std::string> checked(bool quick) {
    std::vector<std::vector<OutputCheck>> draws;
    for (int set = 0; set < (quick ? 2 : kSets); ++set) {
      HONE_TRY(auto outputs, opened_.session->check(set, 0));
      draws.push_back(std::move(outputs));
    }
    for (int weights = 1; weights < kWeights; ++weights) {
      HONE_TRY(auto outputs, opened_.session->check(weights, weights));
      draws.push_back(std::move(outputs));
    }
    draws_ = static_cast<int>(draws.size());
    outputs_ = draws.front().size();
    for (size_t o = 0; o < outputs_; ++o) {
      OutputOff average;
      for (const auto& draw : draws) {
        average.max += draw.at(o).eager.max / static_cast<double>(draws.size());
        average.rms += draw.at(o).eager.rms / static_cast<double>(draws.size());
      }
      for (const auto& draw : draws)
        if (std::string reason = accuracy_reason(draw.at(o), average); !reason.empty()) return reason;
    }
    return std::string();
  }

  Status check() {
    HONE_TRY(const std::string reason, checked(false));
    whole_.checked = fmt::format("{} draws of inputs and weights, {} outputs", draws_, outputs_);
    if (reason.empty()) return {};
    say("  the whole is off: {}; looking for the task\n", reason);
    HONE_TRY_VOID(use({}));
    HONE_TRY(const std::string without, checked(true));
    if (!without.empty()) return fail(ErrorCode::kInput, fmt::format("the program cut into steps is not what it was, even without kernels: {}", without),
                                      "does forward() depend on the order of calls, or draw random numbers?");
    HONE_TRY(const auto wrong, culprits(names_in_use(), [&](const std::vector<std::string>& on) -> Result<bool> {
      HONE_TRY_VOID(use(on));
      HONE_TRY(const std::string off, checked(true));
      return off.empty();
    }));
    for (const std::string& name : wrong) {
      TaskResult& result = result_of(name);
      result.used = false;
      result.note += "; accepted alone, but off in the whole program: " + reason;
    }
    return use(names_in_use());
  }

  Status measure() {
    HONE_TRY(const auto pairs, opened_.session->times(false, 60, 10));
    whole_.eager = duel_of(pairs);
    const auto compiled = opened_.session->times(true, 60, 10);
    if (compiled) whole_.compiled = duel_of(*compiled);
    else whole_.no_compiler = compiled.error().message;
    return {};
  }

  static Duel duel_of(const ProgramSession::Times& times) {
    evaluate::CompareOptions options;
    options.min_processes = 1;  // one process holds: for the user's program, here and now
    evaluate::Comparer comparer(options);
    for (size_t i = 0; i < times.ours_ns.size(); ++i)
      if (const evaluate::PairedSample sample{times.ours_ns[i], times.theirs_ns[i], 0}; evaluate::usable(sample)) comparer.add(sample);
    if (comparer.pairs() == 0) return {};
    return {comparer.ratio(), comparer.decision(), evaluate::median(times.ours_ns), evaluate::median(times.theirs_ns)};
  }

  [[nodiscard]] Json json() const {
    Json tasks = Json::array();
    for (size_t i = 0; i < results_.size(); ++i) {
      const TaskResult& result = results_[i];
      tasks.push_back({{"task", task(i).name}, {"hash", task(i).hash()}, {"multiplicity", opened_.plan.tasks[i].steps.size()}, {"bound_ns", opened_.prices[i].least_ns},
                       {"eager_ns", result.time.eager_ns}, {"kernel_ns", result.used ? Json(result.time.kernel_ns) : Json()}, {"seconds", result.seconds},
                       {"run", result.run.empty() ? Json() : Json(result.run)}, {"champion", result.champion.empty() ? Json() : Json(result.champion)},
                       {"used", result.used}, {"why", result.note}});
    }
    Json all = {{"program", opened_.program.name}, {"tasks", tasks}, {"checked", whole_.checked}, {"bound_ns", opened_.least_ns()}, {"covered", opened_.covered_share()},
                {"eager", whole_.eager.to_json()}, {"folder", folder_.string()}};
    all["compile"] = whole_.no_compiler.empty() ? whole_.compiled.to_json() : Json();
    all["compile_absent"] = whole_.no_compiler.empty() ? Json() : Json(whole_.no_compiler);
    return all;
  }

  /// Steps, what runs each, and why.
  Status write_plan() const {
    Json steps = Json::array();
    for (const program::Step& step : opened_.plan.steps) {
      Json row = {{"inputs", Json::array()}, {"outputs", Json::array()}};
      for (const int id : step.inputs) row["inputs"].push_back(opened_.program.nodes[static_cast<size_t>(id)].name);
      for (const int id : step.outputs) row["outputs"].push_back(opened_.program.nodes[static_cast<size_t>(id)].name);
      row["run"] = step.kind == Region::Kind::kFold ? "fold" : step.task >= 0 && results_[static_cast<size_t>(step.task)].used ? "kernel" : "pytorch";
      if (step.task >= 0) row["task"] = task(static_cast<size_t>(step.task)).name;
      steps.push_back(std::move(row));
    }
    Json plan = json();
    plan["steps"] = std::move(steps);
    return base::write_file_atomic(folder_ / (opened_.program.name + ".plan.json"), base::canonical_json(plan) + "\n");
  }

  Status export_to(const std::filesystem::path& folder) {
    std::map<int, ProgramKernel> used;
    for (const auto& [i, kernel] : kernels_)
      if (results_[static_cast<size_t>(i)].used) used.emplace(i, kernel);
    notes_ = {fmt::format("Measured where it was made ({}), against eager: {}", opened_.session->description(), whole_.eager.to_string())};
    for (size_t i = 0; i < results_.size(); ++i) notes_.push_back(fmt::format("\n- {} x{}: {}", task(i).name, opened_.plan.tasks[i].steps.size(), results_[i].note));
    HONE_TRY(const auto files, package(package_name(), used));
    return write(files, folder);
  }

  void report() const {
    Table table({"task", "times", "eager", "kernel", "ratio", "least", ""});
    for (size_t i = 0; i < results_.size(); ++i) {
      const TaskResult& result = results_[i];
      const bool tried = result.time.kernel_ns > 0 && !result.champion.empty();
      table.add({task(i).name, fmt::format("{}", opened_.plan.tasks[i].steps.size()), time_text(result.time.eager_ns), tried ? time_text(result.time.kernel_ns) : "-",
                 tried ? fmt::format("{:.2f}x", result.time.eager_ns / result.time.kernel_ns) : "-", time_text(opened_.prices[i].least_ns * opened_.multiplicity(i)),
                 (result.used ? "used: " : "PyTorch's: ") + result.note});
    }
    say("\n{}: in place, all steps of a task together\n{}", opened_.program.name, table.to_string());
    say("\n  right: {}, as accurate as PyTorch's own\n", whole_.checked);
    say("  eager: {}\n", whole_.eager.to_string());
    say("  torch.compile: {}\n", whole_.no_compiler.empty() ? whole_.compiled.to_string() : whole_.no_compiler);
    say("  plan: {}\n", (folder_ / (opened_.program.name + ".plan.json")).string());
    if (!arguments_.package.empty()) say("  package: {}\n", arguments_.package);
    if (arguments_.json) fmt::print("{}\n", base::canonical_json(json()));
  }

  OpenedProgram opened_;
  const OptimizeArguments& arguments_;
  engine::RunOptions options_;
  std::vector<TaskResult> results_;
  std::map<int, ProgramKernel> kernels_;
  std::vector<std::string> notes_;
  std::string constants_;
  std::filesystem::path folder_;
  Whole whole_;
  int draws_ = 0;
  size_t outputs_ = 0;
};

}  // namespace

std::vector<double> share_budget(const std::vector<double>& gains, double seconds, double least) {
  std::vector<double> shares(gains.size(), 0);
  std::vector<size_t> order(gains.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  while (!order.empty() && (gains[order.back()] <= 0 || static_cast<double>(order.size()) * least > std::max(seconds, least))) order.pop_back();
  double sum = 0;
  for (const size_t i : order) sum += gains[i];
  const double spare = std::max(0.0, seconds - static_cast<double>(order.size()) * least);
  for (const size_t i : order) shares[i] = least + spare * gains[i] / sum;
  return shares;
}

std::string accuracy_reason(const OutputCheck& check, const OutputOff& average) {
  constexpr double kSlack = 4, kFloor = 16;  // as for tasks behind a product
  if (!check.wrong.empty()) return fmt::format("{}: {}", check.name, check.wrong);
  if (check.ours.broken > check.eager.broken) return fmt::format("{}: {} elements are not finite where the module's are, or the other way round", check.name, check.ours.broken);
  if (static_cast<double>(check.ours.differ) > kSlack * static_cast<double>(check.eager.differ))
    return fmt::format("{}: {} elements differ", check.name, check.ours.differ);
  const auto type = task::dtype_from(check.dtype);
  const double floor = kFloor * (type ? task::unit_roundoff(*type) : 0) * check.ours.scale;
  const auto over = [&](double ours, double eager, double mean) { return ours > std::max(kSlack * std::max(eager, mean), floor); };
  if (over(check.ours.max, check.eager.max, average.max))
    return fmt::format("{}: off by up to {:.3g}, eager by {:.3g}", check.name, check.ours.max, check.eager.max);
  if (over(check.ours.rms, check.eager.rms, average.rms))
    return fmt::format("{}: off by {:.3g} (root of the mean square), eager by {:.3g}", check.name, check.ours.rms, check.eager.rms);
  return {};
}

Result<std::vector<std::string>> culprits(std::vector<std::string> names, const std::function<Result<bool>(const std::vector<std::string>& on)>& passes) {
  std::vector<std::string> found, good = std::move(names);
  while (!good.empty()) {
    HONE_TRY(const bool right, passes(good));
    if (right) break;
    // The shortest beginning of the list that fails ends with a culprit.
    size_t low = 0, high = good.size();  // the first `low` pass, the first `high` fail
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      HONE_TRY(const bool half, passes({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(middle)}));
      (half ? low : high) = middle;
    }
    found.push_back(good[high - 1]);
    good.erase(good.begin() + static_cast<std::ptrdiff_t>(high) - 1);
  }
  return found;
}

Result<int> optimize_program(const evaluate::ProgramSource& source, const OptimizeArguments& arguments) {
  if (arguments.target != "cpu") return fail(ErrorCode::kUsage, fmt::format("programs run on the cpu so far, not on {}", arguments.target), "leave --target out");
  engine::RunOptions options;
  options.seed = arguments.seed;
  options.memory = !arguments.no_memory;
  options.threads = arguments.threads;
  HONE_TRY_VOID(check_threads(arguments.threads));
  HONE_TRY_VOID(parse_budget(arguments.budget, options));
  if (options.budget_seconds <= 0) return fail(ErrorCode::kUsage, "a program's budget is a time", "for example --budget 5m");
  options.budget_evaluations = 0;
  watch_interrupts();
  evaluate::ProgramSource with_threads = source;
  with_threads.threads = arguments.threads;
  with_threads.train = arguments.train;
  HONE_TRY(OpenedProgram opened, open_program(with_threads, arguments.threads));
  return ProgramRun(std::move(opened), arguments, std::move(options)).run();
}

Result<int> explain_program(const evaluate::ProgramSource& source, const ExplainArguments& arguments) {
  evaluate::ProgramSource asked = source;
  asked.train = arguments.train;
  HONE_TRY(const OpenedProgram opened, open_program(asked, 0));
  if (!arguments.save.empty()) HONE_TRY_VOID(write_cut(opened, arguments.save));
  if (arguments.json) fmt::print("{}\n", base::canonical_json(cut_json(opened)));
  else fmt::print("{}", cut_text(opened));
  return 0;
}

}  // namespace hone::face
