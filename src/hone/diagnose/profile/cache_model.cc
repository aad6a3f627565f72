#include "hone/diagnose/profile/cache_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/diagnose/profile/tools.h"
#include "hone/evaluate/launch_case.h"
#include "hone/target/cpu.h"
#include "hone/target/device/cpu_launch.h"
#include "hone/target/worker/walk_protocol.h"

namespace hone::diagnose {
namespace {

/// Valgrind's time over a call's on one thread: a kernel that waits for memory is slowed down twentyfold, one that keeps
/// wide vectors busy two hundredfold. The estimate goes by the worse.
constexpr double kSlowdown = 200;
/// Inputs are drawn to disk (bytes of all tensors).
constexpr double kMostBytes = 1e9;
/// A workload of the task is preferred to a shape of ours where it takes at least this part of what may be taken.
constexpr double kWorthwhile = 0.125;
/// Past so many times what a run may take it is stopped; then it is tried once more at a shape for so small a part of that.
constexpr double kPatience = 2, kSecondTry = 20;
/// An idle run only loads the kernel.
constexpr std::chrono::seconds kIdleDeadline{60};

std::optional<task::Cost> cost_at(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                  const task::Bindings& bindings) {
  const auto graph = task::instantiate(task.primitive, bindings);
  if (!graph || !kernel::bind(kernel, task, bindings, limits)) return std::nullopt;
  return task::minimal_cost(*graph);
}

/// The bindings with the largest symbol halved for which there is a cost.
std::optional<std::pair<task::Bindings, task::Cost>> halved(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                                            const task::Bindings& bindings) {
  std::vector<std::pair<int64_t, std::string>> symbols;
  for (const auto& [name, value] : bindings)
    if (value > 1) symbols.emplace_back(value, name);
  std::sort(symbols.rbegin(), symbols.rend());
  for (const auto& [value, name] : symbols) {
    task::Bindings smaller = bindings;
    smaller[name] = value / 2;
    if (const auto cost = cost_at(kernel, task, limits, smaller)) return std::pair(smaller, *cost);
  }
  return std::nullopt;
}

/// Instructions that Valgrind 3.19 knows, as compilers take them: those that it emulates fast, and those that it knows at all.
/// A multiply-add takes it fourteen times as long as a multiplication and an addition.
struct KnownInstructions {
  std::vector<std::string> fast, all;
  const char *name, *why;
};
const KnownInstructions& known_instructions() {
  static const KnownInstructions known = [] {
    const std::string& isa = target::cpu_info().isa;
    const std::vector<std::string> all = {"-march=x86-64-v3"}, fast = {"-march=x86-64-v3", "-mno-fma"};
    if (isa == "avx512") return KnownInstructions{fast, all, "AVX2 build", ", as valgrind knows no AVX-512"};
    if (isa == "avx2") return KnownInstructions{fast, all, "AVX2 build", ""};
    if (isa == "sse2") return KnownInstructions{{"-march=x86-64"}, {"-march=x86-64"}, "SSE2 build", ""};
    return KnownInstructions{{}, {}, "this CPU's build", ""};
  }();
  return known;
}

/// The first line of a tool's words that says something, cut.
std::string words_of_tool(const std::string& words) {
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
    if (line.find_first_not_of("=- 0123456789\r") != std::string_view::npos && line.find("warning:") == std::string_view::npos)
      return std::string(line.substr(0, 160));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return "it said nothing";
}

}  // namespace

std::optional<ModelledShape> shape_that_fits(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                             const task::Workload& asked, double one_thread_ns, double seconds) {
  auto cost = cost_at(kernel, task, limits, asked.bindings);
  if (!cost || one_thread_ns <= 0) return std::nullopt;
  const task::Cost full = *cost;
  const auto bytes = [](const task::Cost& c) { return c.bytes_read + c.bytes_written; };
  const auto estimate = [&](const task::Cost& c) {
    return one_thread_ns * 1e-9 * kSlowdown * std::max(bytes(c) / std::max(bytes(full), 1.0), c.flops / std::max(full.flops, 1.0));
  };
  const auto fits = [&](const task::Cost& c) { return estimate(c) <= seconds && bytes(c) <= kMostBytes; };
  if (fits(full)) return ModelledShape{asked.bindings, asked.name, estimate(full)};
  std::optional<ModelledShape> best;
  for (const task::Workload& workload : task.workloads) {
    const auto other = cost_at(kernel, task, limits, workload.bindings);
    if (!other || !fits(*other) || estimate(*other) < kWorthwhile * seconds || (best && estimate(*other) <= best->seconds)) continue;
    best = ModelledShape{workload.bindings, workload.name, estimate(*other)};
  }
  if (best) return best;
  task::Bindings bindings = asked.bindings;
  while (!fits(*cost)) {
    auto smaller = halved(kernel, task, limits, bindings);
    if (!smaller) return std::nullopt;
    std::tie(bindings, cost) = std::move(*smaller);
  }
  return ModelledShape{bindings, {}, estimate(*cost)};
}

void no_cache_model(const std::string& why, Metrics& metrics) {
  for (const char* name : kCacheMetrics) metrics.absent(name, why);
}

Result<target::BuildOutcome> CacheModel::build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) const {
  target::BuildOptions options;
  options.lines = true;
  options.instructions = known_instructions().fast;
  HONE_TRY(target::BuildOutcome built, toolchain_->build(kernel, task, bindings, options));
  if (std::holds_alternative<target::Build>(built) || known_instructions().all == options.instructions) return built;
  options.instructions = known_instructions().all;
  return toolchain_->build(kernel, task, bindings, options);
}

Result<CacheModel::Run> CacheModel::run(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits,
                                        const task::Bindings& bindings) const {
  HONE_TRY(const target::BuildOutcome built, build(kernel, task, bindings));
  if (const auto* failure = std::get_if<target::BuildFailure>(&built))
    return Run{{}, fmt::format("it does not build with {}: {}", fmt::join(known_instructions().all, " "), failure->reason)};
  HONE_TRY(const kernel::BoundPlan plan, kernel::bind(kernel, task, bindings, limits));
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("caches"));
  const auto tensors = evaluate::write_tensors(task, bindings, evaluate::Family::kNormal, 1, scratch.path(), "input");
  if (!tensors && tensors.error().code == ErrorCode::kExhausted) return Run{{}, tensors.error().message};
  if (!tensors) return tl::unexpected(tensors.error());
  // The loader's work is in both runs.
  LineCounts counted[2];
  for (const int calls : {0, 1}) {
    const std::string file = fmt::format("counts{}", calls);
    std::vector<std::string> tool = {"valgrind"};
    for (std::string& option : cachegrind_options(caches_, file)) tool.push_back(std::move(option));
    const auto deadline = calls ? std::chrono::seconds(static_cast<int64_t>(std::ceil(kPatience * seconds_))) : kIdleDeadline;
    HONE_TRY(const base::Exit exit, target::walk_under(tool, std::get<target::Build>(built), plan, *tensors, calls, scratch.path(), deadline));
    if (exit.how == base::Exit::How::kDeadline) return Run{{}, fmt::format("valgrind was stopped after {} s", deadline.count()), true};
    if (!exit.ok()) return Run{{}, fmt::format("valgrind {}: {}", exit.describe(), words_of_tool(exit.err))};
    HONE_TRY(const std::string text, base::read_file(scratch.path() / file));
    auto counts = read_cachegrind(text);
    if (!counts) return Run{{}, "what valgrind wrote cannot be read: " + counts.error().message};
    counted[calls] = std::move(*counts);
  }
  Run done{without(counted[1], counted[0]), {}};
  std::erase_if(done.counts, [](const auto& line) { return line.first.function.starts_with(target::worker::kWalkNames); });
  return done;
}

/// Why there is no model; empty where there is one.
Result<std::string> CacheModel::model(const kernel::Kernel& kernel, const task::Task& task, const evaluate::Conditions& times,
                                      const kernel::Limits& limits, Metrics& metrics) const {
  if (kernel.header.language != kernel::Language::kCpp) return std::string("caches are modelled of C++ kernels only");
  if (first_tool({"valgrind"}).empty()) return std::string("there is no valgrind (apt-get install valgrind)");
  const double one_thread = times.one_thread_ns > 0 ? times.one_thread_ns : times.cold_ns * times.threads;
  std::string why = fmt::format("valgrind would take more than {:.0f} s, and no smaller shape was found", seconds_);
  for (const double seconds : {seconds_, seconds_ / kSecondTry}) {
    const auto shape = shape_that_fits(kernel, task, limits, {times.workload, times.bindings, 1}, one_thread, seconds);
    if (!shape) break;
    HONE_TRY(Run done, run(kernel, task, limits, shape->bindings));
    why = std::move(done.why);
    if (done.late) continue;
    if (!why.empty()) break;
    const KnownInstructions& known = known_instructions();
    ModelWords how{fmt::format("{}{}, one thread", known.name, known.why), known.name};
    if (shape->bindings != times.bindings) {
      const std::string name = shape->name.empty() ? task::bindings_text(shape->bindings) : shape->name;
      how.at_length += fmt::format(", at the smaller {} {}", shape->name.empty() ? "shape" : "workload", name);
      how.in_short += ", " + name;
    }
    HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task.primitive, shape->bindings));
    add_cache_counts(done.counts, caches_, task::minimal_cost(graph), how, metrics);
    break;
  }
  return why;
}

Status CacheModel::add(const kernel::Kernel& kernel, const task::Task& task, const evaluate::Conditions& times, const kernel::Limits& limits,
                       Metrics& metrics) const {
  HONE_TRY(const std::string why, model(kernel, task, times, limits, metrics));
  if (!why.empty()) no_cache_model(why, metrics);
  return {};
}

}  // namespace hone::diagnose
