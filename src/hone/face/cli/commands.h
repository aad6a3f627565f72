// One function a command; each returns an exit status or an Error that run_cli() prints.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/face/cli/models.h"

namespace hone::face {

/// A task given as a file, or on the command line.
struct TaskArguments {
  std::string file;
  std::string expression;                ///< -e
  std::vector<std::string> inputs;       ///< -i
  std::vector<std::string> workloads;    ///< -w
  std::string track;                     ///< empty: the task's own
};

struct OptimizeArguments {
  TaskArguments task;
  ModelArguments models;
  std::string replay;                    ///< a finished run or a transcript's file, instead of a task
  std::string target = "cpu", budget = "60s", strategy = "beam", start, save, opponents = "all";
  std::string languages;                 ///< that kernels may be written in; empty: all that the target takes
  uint64_t seed = 1;
  uint64_t shuffle_memory = 0;
  int threads = 0;
  bool no_memory = false;
  bool json = false;
  std::string package;                   ///< of a program: folder for the package, or the file with ModelNew; empty: none
  std::string as = "package";            ///< of a program: or "kernelbench"
  bool train = false;                    ///< of a program: as in training
};

struct KernelArguments {
  std::vector<std::string> kernels;      ///< files, or hashes of the archive
  TaskArguments task;
  std::string opponents = "all", as, output, save;
  std::string target;                    ///< empty: by the kernel's language
  std::string language;                  ///< build: of the library's kernels; empty: the card's own
  std::string config;                    ///< profile, diagnose: tunables to set, "A=1,B=2"
  std::string budget = "20s";            ///< compare: of its pairs
  bool caches = false;                   ///< profile, diagnose: caches and branches modelled too
  bool try_first = false;                ///< diagnose: take the best action and measure it
  int threads = 0;
  bool json = false;
};

struct BenchArguments {
  std::vector<std::string> suite;        ///< folders and task files
  std::string drawn, mix;                ///< SEED:N instead of a suite, and another mix than ours
  TaskArguments task;                    ///< its workloads and track
  std::string target = "cpu", budget = "20s", opponents = "all", only, output;
  std::string languages;                 ///< that kernels may be written in; empty: as the target has them
  std::string resume;                    ///< a bench's id, or "last"; empty: a suite is given
  std::vector<std::string> join;         ///< ids of benches here, or folders of benches from anywhere; empty: nothing is joined
  std::string command;                   ///< as typed
  int threads = 0;
  bool cold = false, json = false;
};

struct TuneArguments {
  std::vector<std::string> replay;       ///< tuning caches, or folders of them; empty: a kernel is given, to measure a space here
  std::string space;                     ///< T1 file
  std::vector<std::string> warm;         ///< tuning caches
  int evaluations = 200, repeats = 10, batch = 1;
  uint64_t seed = 1;
  std::vector<std::string> methods;      ///< empty: the tuner
  bool score = false, race = false, json = false;
  std::string html, save_cache, save_t4;
  std::string kernel, strategy, cache, budget;
  TaskArguments task;
  int threads = 0, jobs = 0, repetitions = 32, rounds = 0;
};

struct PackArguments {
  std::string file;                      ///< the pack
  std::vector<std::string> suite;        ///< folders and task files; empty: the pack is there
  TaskArguments task;                    ///< their workloads and track
  std::string target = "cuda:sm_90a", only;
  std::string into;                      ///< program that is to end with it; empty: none
  std::string language;                  ///< empty: the card's own
  int points = 1;                        ///< of the tunables of each Triton and TileLang kernel
  int offers = -1;                       ///< of the library, for each task; below 0: all
  int most = 0;                          ///< MiB; 0: no limit
};

struct AuditArguments {
  std::vector<std::string> suite;        ///< folders and task files
  std::string drawn, mix;                ///< SEED:N instead of a suite, and another mix than ours
  TaskArguments task;                    ///< its workload and track
  std::string only;
  uint64_t seed = 1;
  bool json = false;
};

struct EvidenceArguments {
  std::string subject;                   ///< a kernel where a task is given, else a run; empty: `check` is given
  TaskArguments task;
  std::string output, check;             ///< files
  std::string opponents;                 ///< empty: all to write, none to check
  std::string target;                    ///< empty: by the kernel's language, or as the evidence says
  double seconds = 0;                    ///< of sampling, a workload; 0: as always
  int threads = 0;
  bool json = false;
};

struct ExplainArguments {
  TaskArguments task;
  std::string save;                      ///< folder for the built-in kernels, or a program's tasks; empty: none
  std::string target = "cpu";
  bool json = false;
  bool train = false;                    ///< of a program: as in training
};

struct McpArguments {
  bool http = false;
  int port = 0;
  std::string token_env;                 ///< variable that holds the token a client must show
  ModelArguments models;                 ///< that clients may name
};

/// A task file from prose.
struct DraftArguments {
  std::string description, output;
  ModelArguments models;
  bool yes = false;
};

[[nodiscard]] Result<int> draft_task(const DraftArguments& arguments);
[[nodiscard]] Result<int> serve_mcp(const McpArguments& arguments);
[[nodiscard]] Result<int> optimize(const OptimizeArguments& arguments);
[[nodiscard]] Result<int> resume(const std::string& run, bool json);
/// A finished run with its models' questions and answers as one file; to standard output where `output` is empty.
[[nodiscard]] Result<int> write_transcript(const std::string& run, const std::string& output);
[[nodiscard]] Result<int> run_bench(const BenchArguments& arguments);
/// Which degenerate answers the tasks of a suite let through, and which of them need less work than they seem to.
[[nodiscard]] Result<int> audit_suite(const AuditArguments& arguments);
/// Writes the tasks that `hone bench --drawn` would run into a folder; without one, to standard output.
[[nodiscard]] Result<int> draw_suite(const std::string& wanted, const std::string& mix, const std::string& folder);
/// Replays tuning spaces of which everything is known, or measures one.
[[nodiscard]] Result<int> tune(const TuneArguments& arguments);
/// Every configuration of a kernel, measured here, into a tuning cache.
[[nodiscard]] Result<int> measure_space(const TuneArguments& arguments);
/// `markdown`: docs/events.md instead.
[[nodiscard]] Result<int> list_runs(bool json, bool markdown);
[[nodiscard]] Result<int> show(const std::string& what, bool json);
[[nodiscard]] Result<int> evaluate_kernel(const KernelArguments& arguments);
/// Metrics of a kernel; with `diagnosing` its bottleneck and what to do about it instead.
[[nodiscard]] Result<int> profile_kernel(const KernelArguments& arguments, bool diagnosing);
/// Diagnoses from counters alone, all kernels in one run of the profiler: `arguments.kernels` are files, each with its task
/// beside it (NAME.cu, NAME.toml). For figures; nobody verifies or times them.
[[nodiscard]] Result<int> diagnose_files(const KernelArguments& arguments);
[[nodiscard]] Result<int> compare_kernels(const KernelArguments& arguments);
/// Writes all that a claim about a kernel rests on into one file, or says what of such a file holds here.
[[nodiscard]] Result<int> evidence_of(const EvidenceArguments& arguments);
/// For a card that need not be here: `target` is cuda:ARCH or hip:ARCH.
[[nodiscard]] Result<int> build_kernel(const KernelArguments& arguments);
/// Kernels built ahead of time, into one file or the end of a program.
[[nodiscard]] Result<int> pack_kernels(const PackArguments& arguments);
[[nodiscard]] Result<int> list_targets(bool json);
[[nodiscard]] Result<int> export_kernel(const KernelArguments& arguments);
[[nodiscard]] Result<int> report_run(const std::string& run, const std::string& output);
[[nodiscard]] Result<int> explain(const ExplainArguments& arguments);
/// All operations, or one by its name or alias; as docs/language.md with `markdown`.
[[nodiscard]] Result<int> list_ops(const std::string& name, bool markdown);
[[nodiscard]] Result<int> check_archive();

/// Exit status for an error, by its code.
[[nodiscard]] int exit_status(const Error& error);

}  // namespace hone::face
