#include "hone/face/cli/context.h"

#include <csignal>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/pattern/library.h"
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

std::atomic<int> interrupts{0};

void on_interrupt(int) {
  if (interrupts.fetch_add(1) >= 2) std::_Exit(130);
}

evaluate::Opponent pytorch_opponent(const task::Task& task, evaluate::PytorchMode mode, int threads) {
  evaluate::Opponent opponent;
  opponent.name = mode == evaluate::PytorchMode::kEager ? "pytorch eager" : "pytorch compile";
  opponent.start = [&task, mode, threads](const evaluate::Stage& stage) -> Result<std::unique_ptr<target::Session>> {
    evaluate::PytorchOptions options;
    options.mode = mode;
    options.threads = threads;
    const auto regions = stage.regions();
    HONE_TRY(auto session, evaluate::start_pytorch(task, stage.bindings(), regions, options));
    return std::unique_ptr<target::Session>(std::move(session));
  };
  return opponent;
}

}  // namespace

Result<std::string> read_text(const std::string& file, std::string_view what) {
  namespace fs = std::filesystem;
  constexpr uintmax_t kMost = uintmax_t{8} << 20;
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status))
    return fail(ErrorCode::kInput, fmt::format("{} is a folder, not a {}", file, what));
  if (fs::is_regular_file(status) && fs::file_size(file, ignored) > kMost)
    return fail(ErrorCode::kInput, fmt::format("{} is no {}: it has more than {} MiB", file, what, kMost >> 20));
  HONE_TRY(std::string text, base::read_file(file));
  if (text.find('\0') != std::string::npos)
    return fail(ErrorCode::kInput, fmt::format("{} is no {}: it is not text", file, what));
  return text;
}

Result<task::Task> task_of(const TaskArguments& arguments) {
  if (arguments.file.empty() && arguments.expression.empty())
    return fail(ErrorCode::kUsage, "what to compute? Give a task file or an expression (-e)",
                "for example examples/softmax.toml, or -e 'y = softmax(x, axis=-1)' -i 'x=f32[16384,4096]'");
  if (!arguments.file.empty()) {
    if (!arguments.expression.empty())
      return fail(ErrorCode::kUsage, "both a task file and an expression (-e) are given", "give one of them");
    if (!arguments.inputs.empty() || !arguments.workloads.empty())
      return fail(ErrorCode::kUsage, "-i and -w belong to an expression (-e)", "a task file says its inputs and workloads itself");
    HONE_TRY(const std::string text, read_text(arguments.file, "task file"));
    return task::parse_task(text, arguments.file);
  }
  auto task = task::task_from_expressions(arguments.expression, arguments.inputs, arguments.workloads);
  if (!task && arguments.workloads.empty() && task.error().hint.rfind("workloads = ", 0) == 0)
    task.error().hint = "give the symbols values with -w: -w 'B=4096,D=1024'";
  return task;
}

Status check_threads(int threads) {
  const int most = target::cpu_info().threads;
  if (threads >= 0 && threads <= most) return {};
  return fail(ErrorCode::kUsage, fmt::format("--threads {}: expected 1 to {}, or 0 for all", threads, most),
              "hone targets says how many there are");
}

std::filesystem::path home() { return archive::default_archive().parent_path(); }

Result<archive::Store> open_archive() { return archive::Store::open(archive::default_archive()); }

Result<archive::Store> read_archive() { return archive::Store::open_read_only(archive::default_archive()); }

Result<kernel::Kernel> kernel_of(const std::string& file_or_hash, archive::Store* store) {
  std::error_code ignored;
  if (std::filesystem::exists(file_or_hash, ignored)) {
    HONE_TRY(const std::string source, read_text(file_or_hash, "kernel file"));
    return kernel::parse_kernel(source, file_or_hash);
  }
  const bool hash = !file_or_hash.empty() && std::all_of(file_or_hash.begin(), file_or_hash.end(), [](unsigned char c) { return std::isxdigit(c); });
  if (!store || !hash)
    return fail(ErrorCode::kNotFound, fmt::format("there is no kernel file {}", file_or_hash),
                hash ? "the archive holds no kernels yet" : "a kernel is a file, or the first digits of its hash (hone show RUN lists them)");
  auto row = store->kernel(file_or_hash);
  if (!row) {
    if (row.error().code != ErrorCode::kNotFound) return tl::unexpected(row.error());
    return fail(ErrorCode::kNotFound, fmt::format("{} is neither a file nor a kernel of the archive", file_or_hash),
                "hone runs lists the runs, hone show RUN their kernels");
  }
  HONE_TRY(kernel::Kernel kernel, kernel::parse_kernel(row->source, file_or_hash));
  const auto config = nlohmann::json::parse(row->config_json, nullptr, false);
  if (config.is_object()) kernel.config = config.get<kernel::Config>();
  kernel.parent = row->parent;
  kernel.author = row->author;
  return kernel;
}

Result<std::vector<evaluate::Opponent>> opponents_for(const task::Task& task, const std::string& names) {
  std::vector<evaluate::Opponent> all;
  std::stringstream list(names == "all" ? "naive,pytorch,compile" : names == "none" ? "" : names.empty() ? "," : names);
  std::set<std::string> seen;
  for (std::string name; std::getline(list, name, ',');) {
    if (!seen.insert(name).second) continue;
    if (name == "naive") {
      auto naive = pattern::naive_cpp(task);
      evaluate::Opponent opponent;
      opponent.name = "naive";
      if (naive) {
        opponent.kernel = std::move(*naive);
      } else {
        opponent.start = [why = naive.error()](const evaluate::Stage&) -> Result<std::unique_ptr<target::Session>> {
          return tl::unexpected(why);
        };
      }
      all.push_back(std::move(opponent));
    } else if (name == "pytorch") {
      all.push_back(pytorch_opponent(task, evaluate::PytorchMode::kEager, target::cpu_info().threads));
    } else if (name == "compile") {
      all.push_back(pytorch_opponent(task, evaluate::PytorchMode::kCompiled, target::cpu_info().threads));
    } else {
      return fail(ErrorCode::kUsage, fmt::format("unknown opponent \"{}\"", name),
                  "a list of naive, pytorch, compile; or all, or none");
    }
  }
  return all;
}

std::string machine_json() {
  const target::CpuInfo& cpu = target::cpu_info();
  return nlohmann::json{{"model", cpu.model}, {"isa", cpu.isa}, {"threads", cpu.threads}, {"l1_bytes", cpu.l1_bytes},
                        {"l2_bytes", cpu.l2_bytes}, {"l3_bytes", cpu.l3_bytes}, {"memory_bytes", cpu.memory_bytes}}
      .dump();
}

Result<engine::Services> cpu_services(const task::Task& task, archive::Store& store,
                                      std::shared_ptr<target::Toolchain> toolchain,
                                      const engine::RunOptions& options, const std::string& opponents) {
  engine::Services services;
  services.clock = &base::system_clock();
  services.store = &store;
  services.limits = target::cpu_limits(target::cpu_info());
  if (options.threads > 0) services.limits["THREADS"] = options.threads;
  services.toolchain = toolchain->name();
  services.machine_json = machine_json();
  services.champions = home() / "champions";
  services.interrupted = interrupted;
  services.evaluator = [&task, toolchain, options]() {
    evaluate::EvaluatorOptions evaluator;
    evaluator.threads = options.threads;
    evaluator.interrupted = hurried;
    if (options.budget_seconds > 0) evaluator.promotion_seconds = 0.3 * options.budget_seconds;
    return evaluate::cpu_evaluator(task, toolchain, evaluator);
  };
  HONE_TRY(services.opponents, opponents_for(task, opponents));
  if (!options.start_source.empty()) {
    HONE_TRY(kernel::Kernel start, kernel::parse_kernel(options.start_source, "start kernel"));
    start.author = "user";
    evaluate::Opponent opponent;
    opponent.name = "start";
    opponent.kernel = start;
    services.opponents.push_back(std::move(opponent));
    services.seeds.push_back({std::move(start), "start", "the kernel given"});
  } else if (auto naive = pattern::naive_cpp(task)) {
    services.seeds.push_back({std::move(*naive), "naive", "plain loops"});
  }
  if (options.strategy == search::StrategyKind::kTune && !options.start_source.empty()) return services;
  std::vector<std::string> why_not;
  auto offers = pattern::offers_cpp(task, why_not);
  // Tuning alone refines the most promising offer; the others begin with the plain loops.
  if (options.strategy == search::StrategyKind::kTune && !offers.empty()) services.seeds.clear();
  for (pattern::Offer& offer : offers)
    services.seeds.push_back({std::move(offer.kernel), offer.pattern, offer.action});
  if (services.seeds.empty())
    return fail(ErrorCode::kUnavailable, fmt::format("no built-in pattern covers this task yet ({})", fmt::join(why_not, "; ")),
                "give a kernel to begin from with --start KERNEL.cc; hone tunes its tunables");
  return services;
}

void watch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}
bool interrupted() { return interrupts.load() > 0; }
bool hurried() { return interrupts.load() > 1; }

}  // namespace hone::face
