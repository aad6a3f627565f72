// For the archive's tests: a scratch archive, and code run in another process that can be killed.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "hone/archive/store.h"
#include "hone/base/file.h"

namespace hone::archive::testing {

/// The value, or the test ends with the error's text.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().to_string();
    throw std::runtime_error("must");
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline RunInfo make_run(std::string id, std::string task_name = "softmax") {
  RunInfo run;
  run.id = std::move(id);
  run.task_name = std::move(task_name);
  run.task_hash = std::string(64, 'a');
  run.target = "cpu";
  run.options_json = R"({"budget":60})";
  run.task_toml = "name = \"softmax\"\n";
  run.created_unix_ms = 1'700'000'000'000;
  run.updated_unix_ms = 1'700'000'000'000;
  run.status = "running";
  return run;
}

class ArchiveTest : public ::testing::Test {
 protected:
  base::ScratchDirectory scratch_ = must(base::ScratchDirectory::create("archive-test"));
  std::filesystem::path file_ = scratch_.path() / "archive.db";

  Store open() { return must(Store::open(file_)); }
};

/// Runs `body` in a forked process, which exits with what it returns. Open stores must not be
/// carried across: open them inside.
template <class Body>
pid_t in_child(const Body& body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  int status = 99;
  try {
    status = body();
  } catch (...) {
  }
  ::_exit(status);
}

/// The child's exit status, or 128 + the signal that ended it.
inline int status_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace hone::archive::testing
