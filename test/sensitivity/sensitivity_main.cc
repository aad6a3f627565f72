// How many wrong kernels does the evaluator let through? Makes mutants of the plain kernel of every task given,
// builds each, has it judged by the gate that every candidate passes, and lists those that were accepted.
//
//   hone_sensitivity [--filter TEXT] [--workload NAME] [--set-aside FILE] [--record FILE] [--least N] TASK.toml...
//
// --record keeps one line a mutant; tasks that it holds already are not run again. Exit 1 when fewer than 99 %
// of the mutants are refused, or there are fewer than --least.
#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "hone/base/random.h"
#include "hone/evaluate/verifier.h"
#include "hone/pattern/plain.h"
#include "mutants.h"

namespace hone::sensitivity {
namespace {

struct Options {
  std::string filter, workload = "tiny", set_aside, record;
  int64_t least = 0;
  std::vector<std::filesystem::path> tasks;
};

/// One line of the record.
struct Outcome {
  std::string task, what, where, verdict, reason;
  bool sixteen = false;  ///< an output has 16 bits
};

/// A mutant that computes the same, with the reason why.
struct Equivalent {
  std::set<std::string> tasks;  ///< empty: every task
  std::string what, where, reason;
  [[nodiscard]] bool matches(const Outcome& o) const {
    return (tasks.empty() || tasks.contains(o.task)) && (what.empty() || what == o.what) &&
           o.where.find(where) != std::string::npos;
  }
};

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

std::vector<Outcome> read_record(const std::string& file) {
  std::vector<Outcome> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    Outcome o;
    std::string sixteen;
    std::getline(fields, o.task, '\t'), std::getline(fields, o.what, '\t'), std::getline(fields, o.where, '\t');
    std::getline(fields, o.verdict, '\t'), std::getline(fields, sixteen, '\t'), std::getline(fields, o.reason, '\t');
    o.sixteen = sixteen == "16";
    all.push_back(std::move(o));
  }
  return all;
}

/// Judges the mutants of one task; "done" as verdict of the last line says that all were.
std::vector<Outcome> judge_task(const task::Task& task) {
  std::vector<Outcome> all;
  const auto leaks = evaluate::self_test(task, base::secret_seed());
  if (!leaks) return {{task.name, "", "", "error", leaks.error().to_string()}};
  if (!leaks->empty()) return {{task.name, "", "", "error", leaks->front().describe(task)}};
  evaluate::VerifierOptions options;
  options.optimisation = "-O1";
  options.deadline = std::chrono::seconds(5);  // at tiny shapes more than enough
  const auto verifier = evaluate::Verifier::create(task, target::cpp_toolchain().value(), options);
  if (!verifier) return {{task.name, "", "", "error", verifier.error().to_string()}};
  const auto right = (*verifier)->verify(pattern::plain_cpp(task));
  if (!right || !right->accepted())
    return {{task.name, "", "", "error", "the right kernel is refused: " + (right ? right->reason : right.error().to_string())}};
  const bool sixteen = std::any_of(task.outputs.begin(), task.outputs.end(),
                                   [](const auto& output) { return task::size_of(output.second.dtype) == 2 && task::is_float(output.second.dtype); });
  const std::vector<Mutant> mutants = mutants_of(task);
  // One thread compiles ahead of the one that judges.
  std::atomic<bool> stop = false;
  std::thread ahead([&] {
    for (size_t i = 1; i < mutants.size() && !stop; i += 2) (void)(*verifier)->build(mutants[i].kernel);
  });
  for (const Mutant& mutant : mutants) {
    Outcome o{task.name, mutant.what, one_line(mutant.where), "", "", sixteen};
    const auto verdict = (*verifier)->verify(mutant.kernel);
    o.verdict = verdict ? evaluate::name_of(verdict->kind) : "error";
    o.reason = one_line(verdict ? verdict->reason : verdict.error().to_string());
    all.push_back(std::move(o));
  }
  stop = true;
  ahead.join();
  all.push_back({task.name, "", "", "done", ""});
  return all;
}

Result<std::vector<Equivalent>> read_set_aside(const std::string& file) {
  std::vector<Equivalent> all;
  if (file.empty()) return all;
  const auto parsed = toml::parse_file(file);
  if (!parsed) return fail(ErrorCode::kInput, file + ": " + std::string(parsed.error().description()));
  const toml::array* list = parsed.table()["equivalent"].as_array();
  if (!list) return all;
  for (const toml::node& node : *list) {
    const toml::table& table = *node.as_table();
    Equivalent e{{}, table["what"].value_or(std::string()), table["where"].value_or(std::string()), table["reason"].value_or(std::string())};
    if (const toml::array* tasks = table["tasks"].as_array())
      for (const toml::node& name : *tasks) e.tasks.insert(name.value_or(std::string()));
    if (e.reason.empty()) return fail(ErrorCode::kInput, file + ": an entry has no reason");
    all.push_back(std::move(e));
  }
  return all;
}

struct Count {
  int64_t refused = 0, survived = 0, set_aside = 0;
  int64_t judged() const { return refused + survived; }
};

int report(const std::vector<Outcome>& outcomes, const std::vector<Equivalent>& equivalents, int64_t least) {
  std::map<std::string, Count> by_what;
  std::map<std::string, int64_t> by_verdict;
  std::set<std::string> tasks;
  Count total, sixteen;
  int64_t not_compiled = 0, errors = 0;
  std::string survivors, aside, failures;
  for (const Outcome& o : outcomes) {
    tasks.insert(o.task);
    if (o.verdict == "done") continue;
    if (o.verdict == "error") {
      ++errors;
      failures += fmt::format("- {}: {} {}\n", o.task, o.what, o.reason);
      continue;
    }
    if (o.verdict == "does not compile") {
      ++not_compiled;
      failures += fmt::format("- {}: {}: `{}`: {}\n", o.task, o.what, o.where, o.reason);
      continue;
    }
    Count& count = by_what[o.what];
    if (o.verdict != "accepted") {
      ++by_verdict[o.verdict];
      ++count.refused, ++total.refused, sixteen.refused += o.sixteen;
      continue;
    }
    const auto e = std::find_if(equivalents.begin(), equivalents.end(), [&](const Equivalent& x) { return x.matches(o); });
    const std::string line = fmt::format("- {}: {}: `{}`", o.task, o.what, o.where);
    if (e != equivalents.end()) {
      ++count.set_aside, ++total.set_aside;
      aside += line + ": " + e->reason + "\n";
    } else {
      ++count.survived, ++total.survived, sixteen.survived += o.sixteen;
      survivors += line + (o.sixteen ? " (16-bit output)" : "") + "\n";
    }
  }
  fmt::print("{} tasks, {} mutants judged, {} refused ({:.2f} %), {} accepted, {} set aside as equivalent\n", tasks.size(),
             total.judged(), total.refused, 100.0 * static_cast<double>(total.refused) / static_cast<double>(std::max<int64_t>(total.judged(), 1)),
             total.survived, total.set_aside);
  fmt::print("of these with a 16-bit output: {} judged, {} accepted\n\n", sixteen.judged(), sixteen.survived);
  fmt::print("| mistake | judged | refused | accepted | set aside |\n| --- | --- | --- | --- | --- |\n");
  for (const auto& [what, c] : by_what) fmt::print("| {} | {} | {} | {} | {} |\n", what, c.judged(), c.refused, c.survived, c.set_aside);
  fmt::print("\n| verdict | mutants |\n| --- | --- |\n");
  for (const auto& [verdict, n] : by_verdict) fmt::print("| {} | {} |\n", verdict, n);
  if (!survivors.empty()) fmt::print("\nAccepted, and not equivalent as far as we know:\n\n{}", survivors);
  if (!aside.empty()) fmt::print("\nSet aside:\n\n{}", aside);
  if (!failures.empty()) fmt::print("\nNot judged ({} do not compile, {} errors):\n\n{}", not_compiled, errors, failures);
  const bool enough = 100 * total.refused >= 99 * total.judged() && total.judged() >= least && errors == 0;
  return enough && total.judged() > 0 ? 0 : 1;
}

int run(const Options& options) {
  const auto equivalents = read_set_aside(options.set_aside);
  if (!equivalents) return fmt::print(stderr, "{}\n", equivalents.error().to_string()), 2;
  std::vector<Outcome> outcomes;
  if (!options.record.empty()) outcomes = read_record(options.record);
  std::set<std::string> done;
  for (const Outcome& o : outcomes)
    if (o.verdict == "done") done.insert(o.task);
  std::erase_if(outcomes, [&](const Outcome& o) { return !done.contains(o.task); });
  for (const auto& path : options.tasks) {
    if (path.string().find(options.filter) == std::string::npos) continue;
    auto task = task::load_task(path);
    if (!task) return fmt::print(stderr, "{}\n", task.error().to_string()), 2;
    std::erase_if(task->workloads, [&](const task::Workload& w) { return w.name != options.workload; });
    if (task->workloads.empty()) return fmt::print(stderr, "{} has no workload {}\n", path.string(), options.workload), 2;
    if (done.contains(task->name)) continue;
    const std::vector<Outcome> judged = judge_task(*task);
    fmt::print(stderr, "{}: {} mutants, {} accepted\n", task->name, judged.size() - 1,
               std::count_if(judged.begin(), judged.end(), [](const Outcome& o) { return o.verdict == "accepted"; }));
    if (!options.record.empty()) {
      std::ofstream record(options.record, std::ios::app);
      for (const Outcome& o : judged)
        record << o.task << '\t' << o.what << '\t' << o.where << '\t' << o.verdict << '\t' << (o.sixteen ? "16" : "") << '\t' << one_line(o.reason) << '\n';
    }
    outcomes.insert(outcomes.end(), judged.begin(), judged.end());
  }
  return report(outcomes, *equivalents, options.least);
}

}  // namespace
}  // namespace hone::sensitivity

int main(int argc, char** argv) {
  hone::sensitivity::Options options;
  const std::map<std::string, std::string*> texts{{"--filter", &options.filter}, {"--workload", &options.workload},
                                                  {"--set-aside", &options.set_aside}, {"--record", &options.record}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0) {
      options.tasks.emplace_back(argument);
    } else if (i + 1 < argc && texts.contains(argument)) {
      *texts.at(argument) = argv[++i];
    } else if (i + 1 < argc && argument == "--least") {
      options.least = std::stoll(argv[++i]);
    } else {
      fmt::print(stderr, "there is no option {}, or it lacks its value\n", argument);
      return 2;
    }
  }
  return hone::sensitivity::run(options);
}
