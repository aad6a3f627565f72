#include "hone/face/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "hone/base/version.h"
#include "hone/face/cli/commands.h"
#include "hone/face/program/attached.h"
#include "hone/task/graph/op_table.h"

namespace hone::face {
namespace {

constexpr const char* kFooter =
    "hone COMMAND --help says more.\n"
    "\n"
    "  hone optimize examples/softmax.toml\n"
    "  hone optimize -e 'y = softmax(x, axis=-1)' -i 'x=f32[16384,4096]' --budget 30s\n"
    "\n"
    "Exit status: 0 all is well; 1 no champion, or the kernel is refused; 2 the command line or an\n"
    "input is wrong; 3 this machine could not do it; 130 interrupted. compare has its own.\n";

/// Options as "--budget BUDGET", arguments by their name alone; defaults stand in the descriptions.
class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() {
    column_width(36);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_positional() || option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string standard = option->get_default_str();
    return option->get_description() + (standard.empty() ? "" : fmt::format(" (default: {})", standard));
  }
};

void add_track(CLI::App* command, std::string& track) {
  command->add_option("--track", track, "what kernels may be rounded like: f32, as-pytorch, tf32, bf16 or f16 (default: as the task says)")->type_name("NAME");
}

void add_task(CLI::App* command, TaskArguments& task) {
  command->add_option("TASK", task.file, "task file (TOML)");
  command->add_option("-e,--expression", task.expression, "the computation, instead of a task file: 'y = softmax(x, axis=-1)'")
      ->type_name("TEXT");
  command->add_option("-i,--input", task.inputs, "an input of the expression: 'x=f32[16384,4096]' (once for each)")
      ->type_name("NAME=TYPE")->allow_extra_args(false);
  command->add_option("-w,--workload", task.workloads, "a workload of the task file by its name; of an expression its symbols' values: "
                      "'B=4096,D=8192' (once for each)")
      ->type_name("NAME|SYMBOL=N,...")->allow_extra_args(false);
  add_track(command, task.track);
}

void add_threads(CLI::App* command, int& threads) {
  command->add_option("--threads", threads, "threads a kernel may use (default: all)")->type_name("N");
}

void add_opponents(CLI::App* command, std::string& opponents) {
  command->add_option("--opponents", opponents, "what to compare with: a list of naive, pytorch, compile, autotune, openblas, onednn; all (without autotune, which takes minutes), or none")
      ->type_name("LIST")->capture_default_str();
}

void add_json(CLI::App* command, bool& flag) {
  command->add_flag("--json", flag, "end with one line of JSON on standard output (docs/json.md)");
}

void add_models(CLI::App* command, ModelArguments& models) {
  command->add_option("--model", models.models, "a language model: command:PROGRAM, or chat:MODEL@URL, responses:…, messages:… (once for each)")
      ->type_name("MODEL")->allow_extra_args(false);
  command->add_option("--models", models.file, "language models from a file (docs/agents.md)")->type_name("FILE");
}

/// The command as a shell takes it.
std::string as_typed(int argc, char** argv) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";
  std::string line = "hone";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += plain ? " " + word : " '" + quoted + "'";
  }
  return line;
}

/// What the user got wrong on the command line, in our words where CLI11's are no help.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem, int argc, char** argv) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(names.begin(), names.end(), first) != names.end();
  if (!known && !first.empty() && first[0] != '-') {
    std::string hint = task::did_you_mean(first, names);
    if (hint.empty()) hint = "hone --help lists the commands";
    return {ErrorCode::kUsage, fmt::format("there is no command \"{}\"", first), hint};
  }
  return {ErrorCode::kUsage, problem.what(), known ? fmt::format("see hone {} --help", first) : "see hone --help"};
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
  CLI::App app{"hone: an autonomous kernel engineer. Say what to compute; get a fast kernel, proved right.", "hone"};
  app.set_version_flag("--version", std::string("hone ") + base::kVersion, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(kFooter);
  std::function<Result<int>()> action;
  const std::string command_line = as_typed(argc, argv);
  const auto add = [&](const char* name, const char* help) {
    CLI::App* command = app.add_subcommand(name, help);
    command->footer("")->group("Commands");
    return command;
  };

  OptimizeArguments optimizing;
  CLI::App* command = add("optimize", "find a faster kernel for a task");
  add_task(command, optimizing.task);
  command->add_option("--save", optimizing.save, "write the task to this file")->type_name("FILE");
  command->add_option("--export", optimizing.package, "of a PyTorch program: write a package with one nn.Module here")->type_name("FOLDER");
  command->add_option("--as", optimizing.as, "of a PyTorch program, what --export writes: package, or kernelbench: one file with ModelNew")->type_name("FORM")->capture_default_str();
  command->add_flag("--train", optimizing.train, "of a PyTorch program: as in training, with batch statistics");
  command->add_option("--target", optimizing.target, "where the kernel is to run: see hone targets; cards of one host at once: cuda:0,cuda:1")->type_name("NAME")->capture_default_str();
  command->add_option("--language", optimizing.languages, "that kernels may be written in, of those the target takes: c++, cuda, hip, triton, tilelang; left out: all but tilelang")
      ->type_name("LIST");
  command->add_option("--budget", optimizing.budget, "such as 30s, 5m, 200evals, or 5m,200evals: whichever ends first")
      ->type_name("BUDGET")->capture_default_str();
  command->add_option("--strategy", optimizing.strategy, "beam, greedy, evolution or tune")->type_name("NAME")->capture_default_str();
  command->add_option("--seed", optimizing.seed, "of the search; the inputs stay secret")->type_name("N")->capture_default_str();
  command->add_option("--start", optimizing.start, "a kernel to begin from and to beat")->type_name("FILE|HASH");
  command->add_flag("--no-memory", optimizing.no_memory, "neither use what earlier runs learnt nor add to it");
  // For measuring what memory is worth (tools/memory_figures.py): no option for people.
  command->add_option("--shuffle-memory", optimizing.shuffle_memory)->group("");
  add_models(command, optimizing.models);
  command->add_option("--model-budget", optimizing.models.budget, "what models may cost: 2usd,500000tokens,40calls")->type_name("BUDGET");
  command->add_option("--replay", optimizing.replay, "go through a finished run's record, or a transcript, once more, decision by decision")
      ->type_name("RUN|FILE.jsonl");
  add_opponents(command, optimizing.opponents);
  add_threads(command, optimizing.threads);
  add_json(command, optimizing.json);
  command->callback([&] { action = [&] { return optimize(optimizing); }; });

  BenchArguments benching;
  command = add("bench", "optimise every task of a suite, and compare");
  command->add_option("SUITE", benching.suite, "a folder of task files, or task files");
  command->add_option("--drawn", benching.drawn, "instead of a suite, N tasks drawn from what people run (docs/drawn.md)")->type_name("SEED:N");
  command->add_option("--mix", benching.mix, "draw from this distribution instead of the published one")->type_name("FILE");
  command->add_option("-w,--workload", benching.task.workloads, "a workload of the task files by its name (once for each; default: theirs)")
      ->type_name("NAME")->allow_extra_args(false);
  add_track(command, benching.task.track);
  command->add_option("--only", benching.only, "tasks whose file's name has this in it, or matches it: '*softmax*'")->type_name("PATTERN");
  command->add_option("--target", benching.target, "where the kernels are to run: see hone targets; cards of one host side by side: cuda:0,cuda:1")->type_name("NAME")->capture_default_str();
  command->add_option("--language", benching.languages, "that kernels may be written in, as of optimize; left out: all that the target takes but tilelang")->type_name("LIST");
  command->add_option("--budget", benching.budget, "of each task's search, such as 8s or 50evals; a time budget has its comparisons sample 10 s at least on top")->type_name("BUDGET")->capture_default_str();
  command->add_flag("--cold", benching.cold, "search anew, whatever the archive knows");
  command->add_option("--resume", benching.resume, "go on with a bench: its id's first digits, or last")->type_name("ID")->expected(0, 1)->default_str("last");
  command->add_option("--join", benching.join, "pages of several benches as one: their ids, or folders with their state.json; of a task the last row counts")
      ->type_name("BENCH");
  command->add_option("-o,--output", benching.output, "folder for the pages (default: benches/ID in HONE_HOME)")->type_name("FOLDER");
  command->footer("The same command again goes on with a bench that was interrupted or killed.\n"
                  "Exit status: 0 every task accepted, 1 some not, or not all done; the others as always (hone --help).");
  add_opponents(command, benching.opponents);
  add_threads(command, benching.threads);
  add_json(command, benching.json);
  command->callback([&] {
    benching.command = command_line;
    action = [&] { return run_bench(benching); };
  });

  AuditArguments auditing;
  command = add("audit", "say which wrong answers a suite's tasks let through, and which tasks need less work than they seem to");
  command->add_option("SUITE", auditing.suite, "folders of task files, or task files");
  command->add_option("--drawn", auditing.drawn, "instead of a suite: N tasks drawn with a seed")->type_name("SEED:N");
  command->add_option("--mix", auditing.mix, "draw them from this distribution instead of the published one (docs/drawn.md)")->type_name("FILE");
  command->add_option("--only", auditing.only, "tasks whose file's name has this in it, or matches it: '*softmax*'")->type_name("PATTERN");
  command->add_option("-w,--workload", auditing.task.workloads, "the workload to look at, by its name (default: tiny, or the smallest)")
      ->type_name("NAME")->allow_extra_args(false);
  add_track(command, auditing.task.track);
  command->add_option("--seed", auditing.seed, "of the inputs that are drawn")->type_name("N")->capture_default_str();
  command->footer("Exit status: 0 nothing was found, 1 something was; the others as always (hone --help).");
  add_json(command, auditing.json);
  command->callback([&] { action = [&] { return audit_suite(auditing); }; });

  TuneArguments tuning;
  command = add("tune", "replay the tuner on tuning spaces of which everything was measured; or measure one");
  command->add_option("KERNEL", tuning.kernel, "kernel whose every configuration is to be measured: a file");
  add_task(command, tuning.task);
  command->add_option("--strategy", tuning.strategy, "of measuring: all")->type_name("NAME");
  command->add_option("--cache", tuning.cache, "the Kernel Tuner cache to write (.gz: gzipped), or to go on with")->type_name("FILE");
  command->add_option("--budget", tuning.budget, "wall time for it, such as 100s; what is not measured by then is left out (default: none)")->type_name("BUDGET");
  command->add_option("--jobs", tuning.jobs, "builds side by side, beside the measuring where there are cores for both (default: all)")->type_name("N");
  command->add_option("--repetitions", tuning.repetitions, "timings of a configuration")->type_name("N")->capture_default_str();
  command->add_option("--rounds", tuning.rounds, "passes over the space, each in another order, in which they are taken (default: 8, or as many as timings)")->type_name("N");
  add_threads(command, tuning.threads);
  command->add_option("--replay", tuning.replay, "a Kernel Tuner cache (JSON, also gzipped), or a folder of them")->type_name("FILE...");
  command->add_option("--space", tuning.space, "T1 file: search only what its conditions allow")->type_name("FILE");
  command->add_option("--warm", tuning.warm, "caches of other devices, shapes or tasks to learn from")->type_name("FILE...");
  command->add_option("--evals", tuning.evaluations, "configurations to evaluate")->type_name("N")->capture_default_str();
  command->add_option("--repeats", tuning.repeats, "replays, each of another seed")->type_name("N")->capture_default_str();
  command->add_option("--seed", tuning.seed, "of the search")->type_name("N")->capture_default_str();
  command->add_option("--batch", tuning.batch, "configurations asked for at a time")->type_name("N")->capture_default_str();
  command->add_option("--method", tuning.methods, "random, genetic, tuner, or warm: the tuner, learning from the other caches given that are of the "
                      "same kernel; tuner-local leaves a part out (docs/tuning.md)")->type_name("NAME")->allow_extra_args(false);
  command->add_flag("--score", tuning.score, "print scores with intervals instead of what was evaluated");
  command->add_flag("--race", tuning.race, "and what racing loses and saves");
  command->add_option("--html", tuning.html, "write scores and curves to this file")->type_name("FILE");
  command->add_option("--save-cache", tuning.save_cache, "write what the first replay evaluated as a Kernel Tuner cache")->type_name("FILE");
  command->add_option("--save-t4", tuning.save_t4, "likewise as a T4 file")->type_name("FILE");
  add_json(command, tuning.json);
  command->callback([&] { action = [&] { return tune(tuning); }; });

  std::string subject, output;
  bool json = false;
  const char* const a_run = "run: its first digits will do; last: the newest";
  command = add("resume", "go on with a run that was interrupted or killed");
  command->add_option("RUN", subject, a_run)->required();
  add_json(command, json);
  command->callback([&] { action = [&] { return resume(subject, json); }; });

  bool markdown = false;
  command = add("runs", "list the runs of the archive");
  add_json(command, json);
  command->add_flag("--markdown", markdown, "print docs/events.md instead: what a run's log holds");
  command->callback([&] { action = [&] { return list_runs(json, markdown); }; });

  command = add("show", "show a run, or a kernel's source");
  command->add_option("RUN|KERNEL", subject, "run or kernel: its first digits will do; last: the newest run")->required();
  add_json(command, json);
  command->callback([&] { action = [&] { return show(subject, json); }; });

  KernelArguments judging;
  judging.kernels.resize(2);
  const auto judge = [&](const char* name, const char* help, size_t kernels, Result<int> (*run)(const KernelArguments&)) {
    CLI::App* c = add(name, help);
    const char* const what = "kernel: a file, or the first digits of its hash";
    if (kernels == 1) c->add_option("KERNEL", judging.kernels[0], what)->required();
    if (kernels == 2) c->add_option("A", judging.kernels[0], what)->required();
    if (kernels == 2) c->add_option("B", judging.kernels[1], "the kernel to compare it with")->required();
    add_task(c, judging.task);
    c->callback([&, run, kernels] {
      judging.kernels.resize(kernels);
      action = [&, run] { return run(judging); };
    });
    return c;
  };
  command = judge("evaluate", "verify and measure one kernel", 1, evaluate_kernel);
  const char* const where = "where it is to run: see hone targets (default: by the kernel's language)";
  command->add_option("--target", judging.target, where)->type_name("NAME");
  command->add_option("--save", judging.save, "if it is accepted, write it to this file with where that was")->type_name("FILE");
  add_opponents(command, judging.opponents);
  add_threads(command, judging.threads);
  add_json(command, judging.json);
  command = judge("compare", "whether kernel A is faster than kernel B", 2, compare_kernels);
  command->footer("Exit status: 0 FASTER, 10 SLOWER, 11 INCONCLUSIVE; the others as always (hone --help).");
  command->add_option("--target", judging.target, where)->type_name("NAME");
  command->add_option("--budget", judging.budget, "of pairs, where they do not decide before: 20s, 5m (default: 20s)")->type_name("TIME");
  add_threads(command, judging.threads);
  add_json(command, judging.json);
  EvidenceArguments proving;
  command = add("evidence", "write all that a claim about a kernel rests on into one file, or check such a file here");
  command->add_option("KERNEL|RUN", proving.subject, "kernel with its task, or the run whose champion it is (last: the newest)");
  add_task(command, proving.task);
  command->add_option("-o,--output", proving.output, "file to write")->type_name("FILE");
  command->add_option("--check", proving.check, "say of this evidence what holds here: parts, machine code, verdict on fresh inputs, ratios")->type_name("FILE");
  command->add_option("--opponents", proving.opponents, "what to time it against: as of evaluate (default: all to write, none to check)")->type_name("LIST");
  command->add_option("--target", proving.target, "where it is to run: see hone targets (default: by the kernel's language, or as the evidence says)")->type_name("NAME");
  command->add_option("--seconds", proving.seconds, "of sampling against the opponents (default: 20)")->type_name("N")->check(CLI::Range(0.1, 3600.0));
  command->footer("Exit status: 0 accepted, or all that can be told here holds; 1 not; the others as always (hone --help).");
  add_threads(command, proving.threads);
  add_json(command, proving.json);
  command->callback([&] { action = [&] { return evidence_of(proving); }; });
  for (const bool diagnosing : {false, true}) {
    command = diagnosing ? judge("diagnose", "say what holds a kernel back, and what to do about it", 1,
                                 [](const KernelArguments& a) { return profile_kernel(a, true); })
                         : judge("profile", "show what is known of a kernel's speed: measured, modelled or absent", 1,
                                 [](const KernelArguments& a) { return profile_kernel(a, false); });
    command->add_option("--target", judging.target, where)->type_name("NAME");
    command->footer("KERNEL may also be naive (plain loops) or pattern:N (the library's N-th kernel for the task, from 0).");
    command->add_option("--config", judging.config, "set tunables of the kernel: A=1,B=2")->type_name("LIST");
    command->add_flag("--caches", judging.caches, "model caches and branches too, in valgrind: takes seconds, a minute at most a workload");
    if (diagnosing) command->add_flag("--try", judging.try_first, "take the best action that hone can take by itself, and measure what it gains");
    add_threads(command, judging.threads);
    add_json(command, judging.json);
  }
  command = add("diagnose-files", "diagnose kernels on a card from counters alone, many in one run of the profiler");
  command->add_option("KERNEL", judging.kernels, "kernel files, each with its task beside it: NAME.cu and NAME.toml")->required();
  command->add_option("--target", judging.target, where)->type_name("NAME")->required();
  command->add_option("-w,--workload", judging.task.workloads, "a workload of the task files by its name")->type_name("NAME")->allow_extra_args(false);
  add_json(command, judging.json);
  command->callback([&] { action = [&] { return diagnose_files(judging); }; });
  command = judge("build", "compile a GPU kernel for a card that need not be here, and show what it needs", 1, build_kernel);
  command->add_option("--target", judging.target, "cuda:sm_90a, cuda:sm_80, …, hip:gfx90a, hip:gfx942 or hip:gfx950: see hone targets")->type_name("NAME")->required();
  command->add_option("--language", judging.language, "of naive and pattern:N: cuda or hip, triton, tilelang (default: the card's own)")->type_name("NAME");
  command->footer("KERNEL may also be naive (plain loops) or pattern:N (the library's N-th kernel for the task, from 0).\n"
                  "Exit status: 0 it was built, 1 it was not; the others as always (hone --help).");
  add_json(command, judging.json);
  PackArguments packing;
  command = add("pack", "compile a suite's kernels for a card ahead of time, into one file or the end of a program");
  command->add_option("FILE", packing.file, "the pack: HONE_PACKS=FILE has hone use it")->required();
  command->add_option("SUITE", packing.suite, "folders of task files, or task files (none: the pack is there already)");
  command->add_option("-w,--workload", packing.task.workloads, "a workload of the task files by its name (once for each; default: theirs)")
      ->type_name("NAME")->allow_extra_args(false);
  add_track(command, packing.task.track);
  command->add_option("--only", packing.only, "tasks whose file's name has this in it, or matches it: '*softmax*'")->type_name("PATTERN");
  command->add_option("--target", packing.target, "cuda:sm_90a, hip:gfx942, …: see hone targets")->type_name("NAME")->capture_default_str();
  command->add_option("--language", packing.language, "of the kernels: cuda or hip, triton, tilelang (default: the card's own)")->type_name("NAME");
  command->add_option("--points", packing.points, "of a Triton or TileLang kernel the values of tunables that are built: the defaults, then one value changed at a time")
      ->type_name("N")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--offers", packing.offers, "kernels of the library for each task, most promising first (default: all)")->type_name("N")
      ->check(CLI::Range(0, 1000));
  command->add_option("--most", packing.most, "size that it may have, in MiB; what does not fit is left out, the least promising first (default: any)")
      ->type_name("MIB")->check(CLI::Range(1, 4095));
  command->add_option("--into", packing.into, "program to append it to, in the place of the one that it has; strip it before")->type_name("PROGRAM");
  command->callback([&] { action = [&] { return pack_kernels(packing); }; });

  command = judge("export", "write a kernel for use in another program", 1, export_kernel);
  command->add_option("--as", judging.as, "header: a C++ header and source without dependencies; torch: a Python package with a PyTorch operator; "
                                         "binary: the same with a card's kernel as machine code; kernelbench: one file with ModelNew")->required()->type_name("FORM");
  command->add_option("--target", judging.target, "binary: the architecture, cuda:sm_90a, hip:gfx942, … (default: where it was verified)")->type_name("NAME");
  command->add_option("-o,--output", judging.output, "folder to write to, kernelbench: file (default: here, torch and binary: NAME-torch)")->type_name("PATH");

  command = add("targets", "list what there is to run on");
  add_json(command, json);
  command->callback([&] { action = [&] { return list_targets(json); }; });

  command = add("report", "write a run's report as one HTML file");
  command->add_option("RUN", subject, a_run)->required();
  command->add_option("-o,--output", output, "file to write (default: in the reports folder of HONE_HOME)")->type_name("FILE");
  command->callback([&] { action = [&] { return report_run(subject, output); }; });

  command = add("transcript", "write a finished run with its models' questions and answers as one file that replays anywhere");
  command->add_option("RUN", subject, a_run)->required();
  command->add_option("-o,--output", output, "file to write (default: standard output)")->type_name("FILE.jsonl");
  command->callback([&] { action = [&] { return write_transcript(subject, output); }; });

  DraftArguments drafting;
  command = add("draft", "have a language model write a task file from a description");
  command->add_option("TEXT", drafting.description, "what is to be computed, in prose")->required();
  command->add_option("-o,--output", drafting.output, "file to write it to, once you have confirmed it")->type_name("FILE");
  command->add_flag("--yes", drafting.yes, "write it without asking");
  add_models(command, drafting.models);
  command->callback([&] { action = [&] { return draft_task(drafting); }; });

  McpArguments serving;
  command = add("mcp", "serve hone's tools to an agent (Model Context Protocol), on standard input and output");
  command->add_flag("--http", serving.http, "over HTTP on 127.0.0.1 instead");
  command->add_option("--port", serving.port, "of --http (default: any; it is printed)")->type_name("N")->check(CLI::Range(0, 65535));
  command->add_option("--token-env", serving.token_env, "environment variable with the token that --http asks for")->type_name("NAME");
  add_models(command, serving.models);
  command->add_option("--model-budget", serving.models.budget, "what the models of one run may cost at most: 2usd,500000tokens,40calls")->type_name("BUDGET");
  command->callback([&] { action = [&] { return serve_mcp(serving); }; });

  AttachArguments attaching;
  command = add("attach", "serve torch.compile's backend, which starts it (python/hone_torch)");
  command->group("");
  command->add_option("--descriptor", attaching.descriptor, "the socket")->required()->type_name("N");
  command->add_option("--when", attaching.when, "a search: now, later or never")->type_name("WHEN");
  command->add_option("--budget", attaching.budget, "of the search")->type_name("TIME");
  command->add_option("--nested", attaching.nested, "the backend that runs what hone does not")->type_name("NAME");
  command->add_option("--threads", attaching.threads, "of PyTorch")->type_name("N");
  command->add_option("--target", attaching.target, "that the graph's tensors lie on")->type_name("NAME");
  command->callback([&] { action = [&] { return attach(attaching); }; });

  ModelArguments testing;
  command = add("models", "test language models with one tiny call each");
  add_models(command, testing);
  add_json(command, json);
  command->callback([&] { action = [&] { return test_models(testing, json); }; });

  ExplainArguments explaining;
  command = add("explain", "show a task's graph, its least cost and the patterns that cover it");
  add_task(command, explaining.task);
  command->add_option("--target", explaining.target, "whose patterns are shown: see hone targets")->type_name("NAME")->capture_default_str();
  command->add_option("--save", explaining.save, "folder to write the built-in kernels to: fused.cc, the most promising, and unfused.cc; or a program's tasks");
  command->add_flag("--train", explaining.train, "of a PyTorch program: as in training, with batch statistics");
  add_json(command, explaining.json);
  command->callback([&] { action = [&] { return explain(explaining); }; });

  std::string wanted, mix, folder;
  command = add("draw", "write the tasks that hone bench --drawn runs");
  command->add_option("SEED:N", wanted, "the seed, and how many tasks")->required();
  command->add_option("--mix", mix, "draw from this distribution instead of the published one (docs/drawn.md)")->type_name("FILE");
  command->add_option("-o,--output", folder, "folder for the task files (default: print them)")->type_name("FOLDER");
  command->callback([&] { action = [&] { return draw_suite(wanted, mix, folder); }; });

  command = add("ops", "list the operations of the task language");
  command->add_option("NAME", subject, "say all about one operation");
  command->add_flag("--markdown", markdown, "print docs/language.md: the whole reference");
  command->callback([&] { action = [&] { return list_ops(subject, markdown); }; });

  command = add("check", "check the archive's integrity");
  command->callback([&] { action = [] { return check_archive(); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) {
      app.exit(problem, std::cout, std::cerr);
      return 0;
    }
    if (argc < 2) {
      std::cerr << app.help();
      return 2;
    }
    const Error error = usage_error(app, problem, argc, argv);
    fmt::print(stderr, "hone: {}\n", error.to_string());
    return exit_status(error);
  }
  const Result<int> status = action();
  if (!status) {
    fmt::print(stderr, "hone: {}\n", status.error().to_string());
    return exit_status(status.error());
  }
  // A full disk or a closed pipe behind us: the caller must not take half an answer for a whole one.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "hone: cannot write to standard output: {}\n", std::strerror(errno));
    return 3;
  }
  return *status;
}

}  // namespace hone::face
