// hone as a library: task in, champion out.
//   embed softmax.toml
#include <hone/engine/local.h>
#include <hone/task/task.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed TASK.toml\n");
    return 2;
  }
  const hone::Result<hone::task::Task> task = hone::task::load_task(argv[1]);
  if (!task) {
    std::fprintf(stderr, "%s\n", task.error().to_string().c_str());
    return 2;
  }
  hone::engine::LocalOptions options;
  options.run.budget_seconds = 0;
  options.run.budget_evaluations = 4;
  options.run.opponents = "naive";
  options.progress = [](const hone::engine::Progress& p) {
    std::fprintf(stderr, "%d evaluated, best %.2fx the first\n", p.evaluated, p.best_score);
  };
  const hone::Result<hone::engine::RunResult> result = hone::engine::optimize(*task, options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
    return 3;
  }
  std::printf("%s: champion %s\n%s\n", task->name.c_str(), result->champion.c_str(), result->summary_json.c_str());
  return result->champion.empty() ? 1 : 0;
}
