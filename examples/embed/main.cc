// Reads a task file and prints what hone understood.
//   embed softmax.toml
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
  std::printf("%s: %zu inputs, %zu outputs, %zu workloads\n", task->name.c_str(), task->inputs.size(),
              task->outputs.size(), task->workloads.size());
  for (const hone::task::Workload& workload : task->workloads)
    std::printf("  %s, weight %g\n", workload.name.c_str(), workload.weight);
}
