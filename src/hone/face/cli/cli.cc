#include "hone/face/cli/cli.h"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "hone/face/cli/commands.h"

namespace hone::face {
namespace {

void add_task(CLI::App* command, TaskArguments& task) {
  command->add_option("-e,--expression", task.expression, "the computation itself, instead of a task file: 'y = softmax(x, axis=-1)'");
  command->add_option("-i,--input", task.inputs, "an input of the expression: 'x=f32[16384,4096]' (repeat for more)");
  command->add_option("-w,--workload", task.workloads, "values of the symbols: 'B=4096,D=8192' (repeat for more)");
}

}  // namespace

int exit_status(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUsage:
    case ErrorCode::kInput:
    case ErrorCode::kNotFound:
      return 2;
    case ErrorCode::kInterrupted:
      return 130;
    default:
      return 3;
  }
}

int run_cli(int argc, char** argv) {
  CLI::App app{"hone: an autonomous kernel engineer"};
  app.set_version_flag("--version", "hone 0.1.0");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  std::function<Result<int>()> action;

  OptimizeArguments optimizing;
  CLI::App* command = app.add_subcommand("optimize", "find a faster kernel for a task");
  command->add_option("TASK", optimizing.task.file, "task file (TOML)");
  add_task(command, optimizing.task);
  command->add_option("--save", optimizing.save, "write the task to this file");
  command->add_option("--target", optimizing.target, "where it is to run (hone targets)")->capture_default_str();
  command->add_option("--budget", optimizing.budget, "60s, 5m, 200evals, or both with a comma (default 60s)");
  command->add_option("--strategy", optimizing.strategy, "beam, greedy or tune")->capture_default_str();
  command->add_option("--seed", optimizing.seed, "of the search; inputs stay secret")->capture_default_str();
  command->add_option("--start", optimizing.start, "a kernel to begin from: file or hash");
  command->add_option("--opponents", optimizing.opponents, "naive, pytorch, compile; all, or none")->capture_default_str();
  command->add_option("--threads", optimizing.threads, "threads a kernel may use (default: all)");
  command->add_flag("--json", optimizing.json, "end with one line of JSON on standard output");
  command->callback([&] { action = [&] { return optimize(optimizing); }; });

  std::string subject, output;
  bool json = false;
  command = app.add_subcommand("resume", "go on with a run that was interrupted or killed");
  command->add_option("RUN", subject, "run (a prefix will do; last: the newest)")->required();
  command->add_flag("--json", json, "end with one line of JSON on standard output");
  command->callback([&] { action = [&] { return resume(subject, json); }; });

  command = app.add_subcommand("runs", "list the runs of the archive");
  command->add_flag("--json", json, "as one line of JSON");
  command->callback([&] { action = [&] { return list_runs(json); }; });

  command = app.add_subcommand("show", "show a run, or a kernel's source");
  command->add_option("RUN|KERNEL", subject, "a prefix will do; last: the newest run")->required();
  command->add_flag("--json", json, "as one line of JSON");
  command->callback([&] { action = [&] { return show(subject, json); }; });

  KernelArguments judging;
  const auto judge = [&](const char* name, const char* help, int kernels, Result<int> (*run)(const KernelArguments&)) {
    CLI::App* c = app.add_subcommand(name, help);
    c->add_option(kernels == 2 ? "KERNELS" : "KERNEL", judging.kernels, kernels == 2 ? "two kernels: files or hashes" : "file or hash")->required()->expected(kernels);
    c->add_option("TASK", judging.task.file, "task file (TOML)");
    add_task(c, judging.task);
    c->add_flag("--json", judging.json, "end with one line of JSON on standard output");
    c->callback([&, run] { action = [&, run] { return run(judging); }; });
    return c;
  };
  command = judge("evaluate", "verify and measure one kernel", 1, evaluate_kernel);
  command->add_option("--opponents", judging.opponents, "naive, pytorch, compile; all, or none")->capture_default_str();
  command->add_option("--threads", judging.threads, "threads a kernel may use (default: all)");
  command = judge("compare", "whether kernel A is faster than B: exit 0 FASTER, 10 SLOWER, 11 INCONCLUSIVE", 2, compare_kernels);
  command->add_option("--threads", judging.threads, "threads a kernel may use (default: all)");
  command = judge("export", "write a kernel for use in another program", 1, export_kernel);
  command->add_option("--as", judging.as, "header: a C++ header and source")->required();
  command->add_option("-o,--output", judging.output, "folder to write to (default: here)");

  command = app.add_subcommand("targets", "what there is to run on");
  command->add_flag("--json", json, "as one line of JSON");
  command->callback([&] { action = [&] { return list_targets(json); }; });

  command = app.add_subcommand("report", "write a run's report as one HTML file");
  command->add_option("RUN", subject, "run (a prefix will do; last: the newest)")->required();
  command->add_option("-o,--output", output, "file to write (default: beside the archive)");
  command->callback([&] { action = [&] { return report(subject, output); }; });

  TaskArguments explaining;
  command = app.add_subcommand("explain", "show a task's graph, its least cost and the patterns that cover it");
  command->add_option("TASK", explaining.file, "task file (TOML)");
  add_task(command, explaining);
  command->add_flag("--json", json, "as one line of JSON");
  command->callback([&] { action = [&] { return explain(explaining, json); }; });

  command = app.add_subcommand("check", "check the archive's integrity");
  command->callback([&] { action = [] { return check_archive(); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const bool asked = problem.get_exit_code() == 0;
    app.exit(problem, asked ? std::cout : std::cerr, std::cerr);
    return asked ? 0 : 2;
  }
  const Result<int> status = action();
  if (status) return *status;
  fmt::print(stderr, "hone: {}\n", status.error().to_string());
  return exit_status(status.error());
}

}  // namespace hone::face
