#include "hone/face/program/program_run.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/engine/local.h"
#include "hone/engine/recall.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/display.h"
#include "hone/face/cli/text.h"
#include "hone/face/program/optimise.h"
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

using base::Json;
using evaluate::OutputCheck;
using evaluate::OutputOff;
using evaluate::StepTime;
using program::Region;

constexpr double kLeastSeconds = 5;    ///< of a task's search: what screening a first kernel takes

}  // namespace

Status for_target(const std::string& target, engine::RunOptions& options) {
  HONE_TRY_VOID(check_program_target(target));
  options.target = target;
  if (target != "cpu") options.languages = "cuda";
  return {};
}

ProgramRun::ProgramRun(OpenedProgram opened, engine::RunOptions options, std::string opponents, Care care, bool quiet)
    : opened_(std::move(opened)), options_(std::move(options)), results_(opened_.plan.tasks.size()), written_(opened_.plan.written.size()), opponents_(std::move(opponents)), care_(care), quiet_(quiet) {}

void ProgramRun::say(const std::string& text) const {
  fmt::print(quiet_ ? stderr : stdout, "{}", text);
  std::fflush(stdout);
}

TaskResult& ProgramRun::result_of(const std::string& name) {
  for (size_t i = 0; i < results_.size(); ++i)
    if (task(i).name == name) return results_[i];
  HONE_CHECK(false, name);
}

std::vector<std::string> ProgramRun::names_in_use() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < results_.size(); ++i)
    if (results_[i].used) names.push_back(task(i).name);
  return names;
}

bool ProgramRun::is_written_with(size_t written, const std::vector<std::string>& names) const {
  const program::WrittenOut& here = opened_.plan.written[written];
  const auto begin = opened_.plan.steps.begin() + here.first;
  return !written_[written].whole && std::any_of(begin, begin + here.count, [&](const program::Step& step) {
    return step.task >= 0 && std::find(names.begin(), names.end(), task(static_cast<size_t>(step.task)).name) != names.end();
  });
}

std::vector<std::string> ProgramRun::left_whole() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < written_.size(); ++i)
    if (written_[i].whole) names.push_back(opened_.plan.written[i].name);
  return names;
}

std::vector<std::string> ProgramRun::with_written(std::vector<std::string> names) const {
  std::vector<std::string> more;
  for (size_t i = 0; i < written_.size(); ++i)
    if (is_written_with(i, names)) more.push_back(opened_.plan.written[i].name);
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

Result<std::vector<ExportedFile>> ProgramRun::package(const std::string& name, const std::map<int, ProgramKernel>& kernels) const {
  ProgramPackage package;
  package.name = name;
  package.kernels = kernels;
  package.constants = constants_;
  package.notes = notes_;
  package.record = record_;
  for (const std::string& one : left_whole()) package.left_whole.insert(one);
  return program_package(opened_.program, opened_.plan, package);
}

Status ProgramRun::write(const std::vector<ExportedFile>& files, const std::filesystem::path& folder) {
  for (const ExportedFile& file : files) {
    HONE_TRY_VOID(base::make_directories((folder / file.name).parent_path()));
    HONE_TRY_VOID(base::write_file_atomic(folder / file.name, file.content));
  }
  return {};
}

Status ProgramRun::keep_cut() {
  HONE_TRY(constants_, base::read_file(opened_.session->constants()));
  folder_ = home() / "programs" / fmt::format("{}-{}", opened_.program.name, base::short_hash(base::content_hash(opened_.session->capture())));
  return write_cut(opened_, folder_);
}

Status ProgramRun::compose(const std::string& name, const std::map<int, ProgramKernel>& kernels) {
  const std::filesystem::path folder = opened_.session->package_folder(folder_);
  HONE_TRY(const auto files, package(name, kernels));
  HONE_TRY_VOID(write(files, folder));
  HONE_TRY(const auto refusals, opened_.session->compose(folder, name));
  for (const auto& [task, reason] : refusals) {
    TaskResult& result = result_of(task);
    result.runs = false;
    result.note = "does not run: " + reason;
  }
  return {};
}

/// Takes times by task, of all its steps. Those of what was written out share PyTorch's time for the whole as they do step by step.
Status ProgramRun::time_steps(const std::vector<std::string>& names, const std::function<void(TaskResult&, const TaskResult&)>& take) {
  std::vector<std::string> written;
  for (const program::WrittenOut& one : opened_.plan.written) written.push_back(one.name);
  HONE_TRY(const auto times, opened_.session->step_times(names, written, care_.step_seconds));
  const auto time_of = [&](const std::string& key) {
    const auto it = times.find(key);
    return it == times.end() ? StepTime{} : it->second;
  };
  std::vector<TaskResult> all(results_.size());
  const auto add = [&](int task, double eager, double stepwise, double kernel) {
    if (task < 0) return;
    TaskResult& result = all[static_cast<size_t>(task)];
    result.time.eager_ns += eager, result.stepwise_ns += stepwise, result.time.kernel_ns += kernel;
  };
  int number = 0;  // of what runs one after the other, which folds do not
  for (size_t i = 0; i < opened_.plan.steps.size(); ++i) {
    const program::Step& step = opened_.plan.steps[i];
    if (step.kind == Region::Kind::kFold) continue;
    const StepTime here = time_of(std::to_string(number));
    if (step.written < 0) {
      add(step.task, here.eager_ns, here.eager_ns, here.kernel_ns);
    } else {
      const program::WrittenOut& from = opened_.plan.written[static_cast<size_t>(step.written)];
      written_[static_cast<size_t>(step.written)].time = here;
      double sum = 0;
      for (int part = 0; part < from.count; ++part)
        if (opened_.plan.steps[i + static_cast<size_t>(part)].task >= 0) sum += time_of(fmt::format("{}.{}", number, part)).eager_ns;
      for (int part = 0; part < from.count; ++part) {
        const StepTime time = time_of(fmt::format("{}.{}", number, part));
        add(opened_.plan.steps[i + static_cast<size_t>(part)].task, sum > 0 ? time.eager_ns / sum * here.eager_ns : 0, time.eager_ns, time.kernel_ns);
      }
      i += static_cast<size_t>(from.count) - 1;
    }
    ++number;
  }
  for (size_t i = 0; i < all.size(); ++i) take(results_[i], all[i]);
  return {};
}

Status ProgramRun::look_at_steps() {
  HONE_TRY_VOID(compose("plain", {}));
  return time_steps({}, [](TaskResult& result, const TaskResult& timed) { result.time = timed.time, result.stepwise_ns = timed.stepwise_ns; });
}

/// What PyTorch takes above the least time, as often as the task runs.
std::vector<double> ProgramRun::gains() const {
  std::vector<double> all;
  for (size_t i = 0; i < results_.size(); ++i) {
    const double gap = results_[i].time.eager_ns - opened_.prices[i].least_ns * opened_.multiplicity(i);
    all.push_back(opened_.prices[i].pattern.empty() || kernels_.count(static_cast<int>(i)) > 0 ? 0 : std::max(gap, 0.0));
  }
  return all;
}

Status ProgramRun::open_bench() {
  if (bench_ != nullptr) return {};
  HONE_TRY(archive::Store store, open_archive());
  store_ = std::make_unique<archive::Store>(std::move(store));
  bench_ = opened_.bench;
  if (bench_ == nullptr) {
    HONE_TRY(bench_, engine::workbench_of(options_));
  }
  return {};
}

Status ProgramRun::recall_tasks() {
  HONE_TRY_VOID(open_bench());
  HONE_TRY(const auto runs, store_->runs(INT_MAX));
  for (size_t i = 0; i < results_.size(); ++i) {
    HONE_TRY(const auto champion, engine::known_champion(*store_, runs, task(i), bench_->place()));
    if (champion) HONE_TRY_VOID(take(i, *champion));
  }
  return {};
}

std::vector<double> ProgramRun::shares() const { return share_budget(gains(), options_.budget_seconds, kLeastSeconds); }

Status ProgramRun::optimise_tasks() {
  const std::vector<double> gain = gains();
  const std::vector<double> seconds = progress_ ? progress_->seconds : shares();
  std::vector<size_t> order(results_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return seconds[a] > seconds[b]; });
  HONE_TRY_VOID(open_bench());
  for (const size_t i : order) {
    if (kernels_.count(static_cast<int>(i)) > 0) continue;
    results_[i].seconds = seconds[i];
    if (seconds[i] <= 0) {
      results_[i].note = opened_.prices[i].pattern.empty() ? "no pattern covers it" : gain[i] <= 0 ? "PyTorch takes no longer than the least time" : "no budget left for what it may gain";
      continue;
    }
    if (interrupted()) {
      results_[i].note = "interrupted";
      continue;
    }
    HONE_TRY_VOID(optimise_task(i));
    say("  {}: {}\n", task(i).name, results_[i].note);
  }
  return {};
}

/// A failure is this task's alone.
Status ProgramRun::optimise_task(size_t i) {
  engine::RunOptions options = options_;
  options.budget_seconds = results_[i].seconds;
  options.sampling_seconds = std::clamp(results_[i].seconds / 4, 1.0, 20.0);
  options.opponents = opponents_ == "all" ? "none" : opponents_;  // the whole meets PyTorch
  TaskResult& result = results_[i];
  auto services = engine::local_services(task(i), *store_, bench_, options, home(), hurried);
  if (!services) {
    result.note = services.error().message;
    return {};
  }
  services->interrupted = interrupted;
  Display display;
  services->progress = [&](const engine::Progress& progress) { display.update(progress); };
  std::optional<archive::RunInfo> begun;
  if (progress_) {
    HONE_TRY(const auto runs, store_->runs(INT_MAX));
    begun = progress_->run_of(runs, i, task(i).hash(), options.target);
  }
  if (begun && begun->status == "finished") {
    result.run = begun->id;
    if (!begun->champion.empty()) HONE_TRY_VOID(take(i, begun->champion));
    result.note = begun->champion.empty() ? fmt::format("no champion (run {})", begun->id) : fmt::format("champion {} of run {}", base::short_hash(begun->champion), begun->id);
    return {};
  }
  const auto found = begun ? engine::resume_run(*begun, task(i), *services) : engine::start_run(task(i), options, *services);
  if (!found) {
    result.note = found.error().to_string();
    return {};
  }
  result.run = found->run;
  if (found->champion.empty()) {
    result.note = fmt::format("no champion (run {} ended by {})", found->run, found->reason);
    return {};
  }
  HONE_TRY_VOID(take(i, found->champion));
  result.note = fmt::format("champion {} of run {}", base::short_hash(found->champion), found->run);
  return {};
}

Status ProgramRun::take(size_t i, const std::string& champion) {
  HONE_TRY(const archive::KernelRow row, store_->kernel(champion));
  HONE_TRY(kernel::Kernel kernel, engine::kernel_from(row));
  TorchOptions torch;
  torch.common.limits = target::cpu_limits(target::cpu_info());
  torch.common.isa = target::cpu_info().isa;
  torch.common.specialised = task(i).workloads.front().bindings;
  if (!kernel.header.pattern.empty()) torch.common.alignment = 0;
  torch.verified = bench_->place();
  kernels_.insert_or_assign(static_cast<int>(i), ProgramKernel{std::move(kernel), std::move(torch)});
  results_[i].champion = champion;
  results_[i].note = fmt::format("champion {} of the archive", base::short_hash(champion));
  return {};
}

Status ProgramRun::put_in_place() {
  HONE_TRY_VOID(compose(package_name(), kernels_));
  std::vector<std::string> names;
  for (const auto& [i, kernel] : kernels_)
    if (results_[static_cast<size_t>(i)].runs) names.push_back(task(static_cast<size_t>(i)).name);
  if (names.empty()) return {};
  for (const std::string& name : names) result_of(name).used = true;
  HONE_TRY_VOID(time_steps(names, [](TaskResult& result, const TaskResult& timed) {
    if (result.used) result.time = timed.time, result.stepwise_ns = timed.stepwise_ns;
  }));
  return use(names_in_use());
}

/// What was written out and is no faster than PyTorch's operator, with the kernels that serve nothing else.
void ProgramRun::leave_whole() {
  const std::vector<std::string> names = names_in_use();
  std::vector<bool> serves(results_.size(), false);
  for (size_t i = 0; i < written_.size(); ++i)
    if (is_written_with(i, names) && written_[i].time.kernel_ns >= written_[i].time.eager_ns) written_[i].whole = true;
  for (const program::Step& step : opened_.plan.steps)
    if (step.task >= 0 && (step.written < 0 || !written_[static_cast<size_t>(step.written)].whole)) serves[static_cast<size_t>(step.task)] = true;
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i].used || serves[i]) continue;
    results_[i].used = false;
    results_[i].note += "; what it is a part of is no faster so than PyTorch's one operator";
  }
}

Status ProgramRun::keep_faster() {
  for (TaskResult& result : results_) {
    if (!result.used || result.time.kernel_ns < result.stepwise_ns) continue;
    result.used = false;
    result.note += "; no faster in its place";
  }
  leave_whole();
  return use(names_in_use());
}

Status ProgramRun::use(const std::vector<std::string>& names) {
  std::map<std::string, bool> all;
  for (size_t i = 0; i < results_.size(); ++i) all[task(i).name] = std::find(names.begin(), names.end(), task(i).name) != names.end();
  const std::vector<std::string> used = with_written(names);
  for (const program::WrittenOut& written : opened_.plan.written) all[written.name] = std::find(used.begin(), used.end(), written.name) != used.end();
  return opened_.session->use(all);
}

/// Every draw of inputs, and of weights; the reason for the first output that is off, empty where all is right.
Result<std::string> ProgramRun::why_off(bool quick) {
  std::vector<std::vector<OutputCheck>> draws;
  for (int set = 0; set < (quick ? std::min(care_.sets, 2) : care_.sets); ++set) {
    HONE_TRY(auto outputs, opened_.session->check(set, 0));
    draws.push_back(std::move(outputs));
  }
  for (int weights = 1; weights < care_.weights; ++weights) {
    HONE_TRY(auto outputs, opened_.session->check(weights, weights));
    draws.push_back(std::move(outputs));
  }
  const size_t outputs = draws.front().size();
  checked_ = fmt::format("{} draws of inputs and weights, {} outputs, {} kernels", draws.size(), outputs, kernels_in_use());
  for (size_t o = 0; o < outputs; ++o) {
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

Status ProgramRun::check_cut() {
  HONE_TRY(const std::string without, why_off(true));
  if (without.empty()) return {};
  return fail(ErrorCode::kInput, fmt::format("the program cut into steps is not what it was, even without kernels: {}", without),
              "does forward() depend on the order of calls, draw random numbers, or go another way where torch.export follows it? nn.TransformerEncoder with a padding mask does so "
              "after eval(): torch.backends.mha.set_fastpath_enabled(False) in the file has it go one way");
}

Status ProgramRun::check() {
  HONE_TRY(const std::string reason, why_off(false));
  const std::string all_draws = checked_;
  if (reason.empty()) return {};
  say("  the whole is off: {}; looking for the task\n", reason);
  HONE_TRY_VOID(use({}));
  HONE_TRY_VOID(check_cut());
  HONE_TRY(const auto wrong, culprits(names_in_use(), [&](const std::vector<std::string>& on) -> Result<bool> {
    HONE_TRY_VOID(use(on));
    HONE_TRY(const std::string off, why_off(true));
    return off.empty();
  }));
  for (const std::string& name : wrong) {
    TaskResult& result = result_of(name);
    result.used = false;
    result.note += "; accepted alone, but off in the whole program: " + reason;
  }
  checked_ = all_draws;
  return use(names_in_use());
}

Json ProgramRun::tasks_json() const {
  Json tasks = Json::array();
  for (size_t i = 0; i < results_.size(); ++i) {
    const TaskResult& result = results_[i];
    tasks.push_back({{"task", task(i).name}, {"hash", task(i).hash()}, {"multiplicity", opened_.plan.tasks[i].steps.size()}, {"bound_ns", opened_.prices[i].least_ns},
                     {"eager_ns", result.time.eager_ns}, {"kernel_ns", result.used ? Json(result.time.kernel_ns) : Json()}, {"seconds", result.seconds},
                     {"run", result.run.empty() ? Json() : Json(result.run)}, {"champion", result.champion.empty() ? Json() : Json(result.champion)},
                     {"used", result.used}, {"why", result.note}});
  }
  return tasks;
}

Status ProgramRun::write_plan(Json plan) const {
  Json steps = Json::array();
  for (const program::Step& step : opened_.plan.steps) {
    Json row = {{"inputs", Json::array()}, {"outputs", Json::array()}};
    for (const int id : step.inputs) row["inputs"].push_back(opened_.program.nodes[static_cast<size_t>(id)].name);
    for (const int id : step.outputs) row["outputs"].push_back(opened_.program.nodes[static_cast<size_t>(id)].name);
    row["run"] = step.kind == Region::Kind::kFold ? "fold" : step.task >= 0 && results_[static_cast<size_t>(step.task)].used ? "kernel" : "pytorch";
    if (step.task >= 0) row["task"] = task(static_cast<size_t>(step.task)).name;
    if (step.written >= 0) row["part_of"] = opened_.plan.written[static_cast<size_t>(step.written)].name;
    steps.push_back(std::move(row));
  }
  plan["steps"] = std::move(steps);
  return base::write_file_atomic(folder_ / (opened_.program.name + ".plan.json"), base::canonical_json(plan) + "\n");
}

}  // namespace hone::face
