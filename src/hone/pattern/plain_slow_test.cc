// Plain kernels for every operation of the task language, compiled, run and judged by the evaluator.
// Each file of test/cases/plain is a task of many outputs, so that few compilers run.
#include <gtest/gtest.h>

#include <cstdlib>

#include "hone/base/file.h"
#include "hone/evaluate/evaluator.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

class Plain : public ::testing::TestWithParam<testing::TaskFile> {};

TEST_P(Plain, IsAccepted) {
  const auto made = task::load_task(GetParam().path);
  ASSERT_TRUE(made) << made.error().to_string();
  const kernel::Kernel kernel = plain_cpp(*made);
  if (const char* folder = std::getenv("HONE_KEEP_PLAIN")) {
    ASSERT_TRUE(base::write_file_atomic(std::string(folder) + "/" + GetParam().name + ".cc", kernel.source));
  }
  evaluate::EvaluatorOptions options;
  options.verify_only = true;
  options.optimisation = "-O1";
  const auto evaluator = evaluate::cpu_evaluator(*made, target::cpp_toolchain().value(), options);
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  const auto screening = (*evaluator)->screen(kernel);
  ASSERT_TRUE(screening) << screening.error().to_string();
  const evaluate::Verdict& verdict = screening->verdict;
  EXPECT_TRUE(verdict.accepted()) << evaluate::name_of(verdict.kind) << ": " << verdict.reason << "\n" << verdict.detail;
}

INSTANTIATE_TEST_SUITE_P(Cases, Plain, ::testing::ValuesIn(testing::plain_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
