// The tasks of KernelBench at their tiny workload in Triton, on the interpreter: a table of the patterns that cover them, which must be
// accepted, "plain" where only plain loops do. Skipped without Triton.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "hone/evaluate/evaluator.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class TritonSuites : public testing::TestWithParam<TaskFile> {};

TEST_P(TritonSuites, FirstOffersAndPlainLoopsAreAcceptedAtTiny) {
  const auto task = plain_testing::task_at(GetParam(), "tiny");
  ASSERT_TRUE(task) << task.error().to_string();
  auto triton = target::emulator_toolchain(kernel::Language::kTriton);
  if (!triton) GTEST_SKIP() << triton.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*triton);
  auto evaluator = evaluate::emulated_evaluator(*task, toolchain, {});
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  std::vector<std::string> why_not;
  std::vector<Offer> offers = offers_triton(*task, why_not);
  offers.push_back(*plain_offer(*task, kernel::Language::kTriton));
  std::string line;
  std::set<std::string> seen;
  for (const Offer& offer : offers) {
    if (!seen.insert(offer.pattern).second) continue;
    const auto screening = (*evaluator)->screen(offer.kernel);
    ASSERT_TRUE(screening) << screening.error().to_string();
    const bool accepted = screening->verdict.accepted();
    EXPECT_TRUE(accepted) << offer.pattern << ": " << evaluate::name_of(screening->verdict.kind) << ": " << screening->verdict.reason << "\n"
                          << screening->verdict.detail << "\n" << offer.kernel.source;
    line += fmt::format("  {}{}", offer.pattern == "parts" ? offer.action : offer.pattern, accepted ? "" : " REFUSED");
  }
  std::printf("TABLE %-60s%s\n", GetParam().name.c_str(), line.c_str());
}

INSTANTIATE_TEST_SUITE_P(Tasks, TritonSuites, testing::ValuesIn(plain_testing::task_files("tasks/kernelbench/level1")),
                         [](const auto& parameter) { return "t" + parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
