#include "hone/face/cli/context.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/engine/recall.h"
#include "hone/face/cli/text.h"
#include "hone/target/toolchain/python_compiler.h"
#include "hone/target/toolchain/triton_start.h"
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

std::atomic<int> interrupts{0};

/// After SIGTERM, until the process ends whatever it is at: an oracle or a compiler polls nothing. Longer than a bench needs for its page.
constexpr unsigned kAtMostSeconds = 15;

void on_interrupt(int signal) {
  if (signal == SIGALRM) std::_Exit(130);
  // Ctrl-C is somebody who wants the best so far; SIGTERM is a scheduler or `timeout`, which kills soon. It may come twice (`timeout`
  // sends it to the process and to its group), and means the same.
  if (signal == SIGTERM) interrupts.store(std::max(interrupts.load(), 2)), ::alarm(kAtMostSeconds);
  else if (interrupts.fetch_add(1) >= 2) std::_Exit(130);
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
    if (!arguments.inputs.empty())
      return fail(ErrorCode::kUsage, "-i belongs to an expression (-e)", "a task file says its inputs itself");
    HONE_TRY(const std::string text, read_text(arguments.file, "task file"));
    HONE_TRY(task::Task task, task::parse_task(text, arguments.file, std::filesystem::path(arguments.file).parent_path()));
    HONE_TRY(task, task::select_workloads(std::move(task), arguments.workloads));
    return task::select_track(std::move(task), arguments.track);
  }
  auto task = task::task_from_expressions(arguments.expression, arguments.inputs, arguments.workloads);
  if (!task && arguments.workloads.empty() && task.error().hint.rfind("workloads = ", 0) == 0)
    task.error().hint = "give the symbols values with -w: -w 'B=4096,D=1024'";
  if (!task) return task;
  return task::select_track(std::move(*task), arguments.track);
}

Status check_fits(const task::Task& task, const std::string& where) {
  const auto memory = static_cast<double>(target::cpu_info().memory_bytes);
  for (const task::Workload& workload : task.workloads) {
    HONE_TRY(const auto graph, task::instantiate(task.primitive, workload.bindings));
    double bytes = 0;
    const auto add = [&](int id) {
      double elements = 1;
      for (const int64_t extent : graph.shapes[static_cast<size_t>(id)]) elements *= static_cast<double>(extent);
      bytes += elements * task::size_of(graph.graph.node(id).type.dtype);
    };
    for (const int id : graph.graph.inputs) add(id);
    for (const int id : graph.graph.outputs) add(id);
    if (2 * bytes > memory)
      return fail(ErrorCode::kInput,
                  fmt::format("the workload '{}' has {} of inputs and outputs, more than half of this machine's memory ({})",
                              workload.name, bytes_text(bytes), bytes_text(memory)),
                  "hone holds them several times over: give smaller shapes", where);
  }
  return {};
}

Result<task::Task> runnable_task_of(const TaskArguments& arguments) {
  HONE_TRY(task::Task task, task_of(arguments));
  HONE_TRY_VOID(check_fits(task, arguments.file));
  return task;
}

Status check_threads(int threads) {
  const int most = target::cpu_info().threads;
  if (threads >= 0 && threads <= most) return {};
  return fail(ErrorCode::kUsage, fmt::format("--threads {}: expected 1 to {}, or 0 for all", threads, most),
              "hone targets says how many there are");
}

Result<std::shared_ptr<engine::Workbench>> workbench_for(const std::string& target, const kernel::Kernel& kernel, int threads) {
  HONE_TRY_VOID(check_threads(threads));
  const std::string home = target::home_of(kernel.header.language);
  if (target.empty() && home.empty())
    return fail(ErrorCode::kInput, fmt::format("no target here takes kernels in {}", kernel::name_of(kernel.header.language)), "hone targets lists what there is");
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::Workbench::open(target.empty() ? home : target, {threads, {}}));
  HONE_TRY_VOID(bench->takes(kernel));
  return bench;
}

std::filesystem::path home() { return archive::default_archive().parent_path(); }

Result<archive::Store> open_archive() { return archive::Store::open(archive::default_archive()); }

Result<archive::Store> read_archive() { return archive::Store::open_read_only(archive::default_archive()); }

Result<kernel::Kernel> kernel_of(const std::string& file_or_hash, archive::Store* store, const task::Task* task) {
  std::error_code ignored;
  if (std::filesystem::exists(file_or_hash, ignored)) {
    HONE_TRY(const std::string source, read_text(file_or_hash, "kernel file"));
    HONE_TRY(kernel::Kernel kernel, kernel::parse_kernel(source, file_or_hash));
    if (target::home_of(kernel.header.language).empty())
      return fail(ErrorCode::kInput, fmt::format("{} is written in {}, which no target of hone's takes", file_or_hash, kernel::name_of(kernel.header.language)));
    // An ordinary Triton or TileLang kernel says less in its header than hone needs.
    if (kernel.header.language == kernel::Language::kTriton && target::find_python(target::kTritonRow)) return target::complete_triton(std::move(kernel), file_or_hash, task);
    if (kernel.header.language == kernel::Language::kTileLang && target::find_python(target::kTileLangRow)) return target::complete_tilelang(std::move(kernel), file_or_hash);
    return kernel;
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
  return engine::kernel_from(*row);
}

Result<kernel::Kernel> known_kernel(const std::string& file_or_hash, const task::Task* task) {
  if (std::error_code ignored; std::filesystem::exists(file_or_hash, ignored)) return kernel_of(file_or_hash, nullptr, task);
  auto store = read_archive();
  if (!store && store.error().code != ErrorCode::kNotFound) return tl::unexpected(store.error());
  return kernel_of(file_or_hash, store ? &*store : nullptr, task);
}

Result<std::optional<archive::RunInfo>> run_of_champion(archive::Store& store, const std::string& hash) {
  constexpr int kRuns = 1000;
  HONE_TRY(const auto runs, store.runs(kRuns));
  for (const archive::RunInfo& run : runs)
    if (run.champion == hash) return std::optional(run);
  return std::optional<archive::RunInfo>();
}

void say_where_verified(const kernel::Kernel& kernel, const std::string& name, const task::Task& task, const engine::Place& here) {
  const auto differences = engine::not_as_verified(kernel, task, here);
  if (differences.empty()) return;
  fmt::print(stderr, "note: {} was verified on {}, elsewhere or for something else, and is verified anew\n  {}\n", name,
             kernel.header.verified->date, fmt::join(differences, "\n  "));
}

void watch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}
bool interrupted() { return interrupts.load() > 0; }
bool hurried() { return interrupts.load() > 1; }
int interrupts_so_far() { return interrupts.load(); }

evaluate::EvaluatorOptions looking() {
  evaluate::EvaluatorOptions options;
  options.interrupted = interrupted;
  options.facts = evaluate::cached_facts();
  return options;
}

}  // namespace hone::face
