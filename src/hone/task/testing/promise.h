// What reading a task file promises, whatever is in it; for tests.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>

#include "hone/task/task.h"

namespace hone::task {

/// A task that writes itself back, or one message that names a place in the file. What is broken of it; empty: nothing.
inline std::string broken_promise(const std::string& text) {
  const auto task = parse_task(text, "mutant.toml");
  if (task) {
    const auto again = parse_task(task->to_toml(), "again.toml");
    if (!again) return again.error().to_string() + "\n" + task->to_toml();
    return again->hash() == task->hash() ? "" : "written back it is another task";
  }
  const Error& error = task.error();
  if (error.message.empty() || error.message.size() >= 600) return "a message of " + std::to_string(error.message.size()) + " bytes";
  for (const std::string& part : {error.message, error.hint})
    if (!std::all_of(part.begin(), part.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; })) return "a message with control characters: " + part;
  // What is missing stands nowhere; everything else has a place inside the file.
  int line = 0;
  int column = 0;
  if (std::sscanf(error.context.c_str(), "mutant.toml:%d:%d", &line, &column) != 2) {
    const bool missing = error.message.rfind("the task has no '", 0) == 0 || error.message.find("there are no workloads") != std::string::npos;
    return error.context == "mutant.toml" && missing ? "" : "no place: " + error.to_string();
  }
  return line >= 1 && column >= 1 && line <= 1 + std::count(text.begin(), text.end(), '\n') ? "" : "no place of the file: " + error.to_string();
}

}  // namespace hone::task
