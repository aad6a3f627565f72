// What tests of single GPU patterns share: a task of one line, the program that the pattern writes, and verdicts on the emulators.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern::gpu_rows_testing {

struct Given {
  const char* name;
  const char* compute;
  std::vector<std::string> inputs;
};
inline void PrintTo(const Given& given, std::ostream* out) { *out << given.name; }

inline std::string name_of(const testing::TestParamInfo<Given>& parameter) { return parameter.param.name; }

/// A task on the emulators. Not to be moved: the judge and the program point into it.
class Emulated {
 public:
  Emulated(const Given& given, const std::vector<std::string>& workloads) {
    auto task = task::task_from_expressions(given.compute, given.inputs, workloads);
    HONE_CHECK(task.has_value(), given.compute);
    task_ = std::move(*task);
    auto simt = target::simt_toolchain();
    if (!simt) {
      unavailable_ = simt.error().to_string();
      return;
    }
    auto judge = judge_testing::Judge::create(task_, std::shared_ptr<target::Toolchain>(std::move(*simt)));
    HONE_CHECK(judge.has_value(), given.compute);
    judge_ = std::move(*judge);
    normal_ = normal_form(task_);
    auto program = find_program(normal_, {.columns = true, .scans = true, .slices = true, .fences = {}});
    HONE_CHECK(program.has_value(), given.compute);
    program_ = std::move(*program);
  }
  Emulated(Emulated&&) = delete;

  /// Why there is no emulator; empty where there is one.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  [[nodiscard]] const Program& program() const { return *program_; }

  void expect_accepted(const kernel::Kernel& kernel) const { judge_->expect_accepted(kernel, kernel.author); }

 private:
  std::string unavailable_;
  task::Task task_, normal_;
  std::optional<judge_testing::Judge> judge_;
  std::optional<Program> program_;
};

}  // namespace hone::pattern::gpu_rows_testing
