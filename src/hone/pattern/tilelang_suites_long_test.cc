// The tasks of KernelBench at their tiny workload in TileLang, on the emulator: a table of the patterns that cover them, which must be
// accepted, and of what TileLang's patterns do not take. Skipped without TileLang.
#include <gtest/gtest.h>

#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/evaluator.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_testing.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/target/toolchain/python_compiler.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class TileLangSuites : public testing::TestWithParam<TaskFile> {};

TEST_P(TileLangSuites, OffersAreAcceptedAtTiny) {
  if (const auto& install = target::find_python(target::kTileLangRow); !install) GTEST_SKIP() << install.error().to_string();
  const auto task = plain_testing::task_at(GetParam(), "tiny");
  ASSERT_TRUE(task) << task.error().to_string();
  std::vector<std::string> why_not;
  const std::vector<Offer> offers = offers_tilelang(*task, why_not);
  if (offers.empty()) {
    std::printf("TABLE %-60s  NOT COVERED %s\n", GetParam().name.c_str(), fmt::format("{}", fmt::join(why_not, "; ")).c_str());
    return;
  }
  auto emulator = target::emulator_toolchain(kernel::Language::kCuda);
  if (!emulator) GTEST_SKIP() << emulator.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*emulator);
  auto evaluator = evaluate::emulated_evaluator(*task, toolchain, {});
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  for (const Offer& offer : offers) {
    const auto screening = (*evaluator)->screen(offer.kernel);
    ASSERT_TRUE(screening) << screening.error().to_string();
    const bool accepted = screening->verdict.accepted();
    EXPECT_TRUE(accepted) << offer.pattern << ": " << evaluate::name_of(screening->verdict.kind) << ": " << screening->verdict.reason << "\n"
                          << screening->verdict.detail << "\n" << offer.kernel.source;
    std::printf("TABLE %-60s  %s%s\n", GetParam().name.c_str(), offer.pattern.c_str(), accepted ? "" : " REFUSED");
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TileLangSuites, testing::ValuesIn(plain_testing::task_files("tasks/kernelbench/level1")),
                         [](const auto& parameter) { return "t" + parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
