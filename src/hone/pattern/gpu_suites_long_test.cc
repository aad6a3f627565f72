// The tasks of KernelBench that a GPU pattern covers, at their tiny workload, on both emulators: a table of
// what is accepted, with what is offered first for their full size alone. Tasks that only plain loops cover have no line.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "hone/evaluate/evaluator.h"
#include "hone/pattern/gpu_matmul.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class GpuSuites : public testing::TestWithParam<TaskFile> {};

TEST_P(GpuSuites, FirstOffersAreAcceptedAtTiny) {
  const auto task = plain_testing::task_at(GetParam(), "tiny");
  ASSERT_TRUE(task) << task.error().to_string();
  const auto large = plain_testing::task_at(GetParam(), "full");
  ASSERT_TRUE(large) << large.error().to_string();
  auto simt = target::simt_toolchain();
  if (!simt) GTEST_SKIP() << simt.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*simt);
  auto evaluator = evaluate::emulated_evaluator(*task, toolchain, {});
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  std::string line;
  for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    std::vector<std::string> why_not;
    std::set<std::string> seen;
    auto offers = offers_gpu(*task, language, why_not);
    for (Offer& offer : gpu_matmul_offers(*large, language))
      if (offer.action.starts_with("wgmma")) offers.push_back(std::move(offer));
    for (const Offer& offer : offers) {
      const std::string& kind = offer.action.starts_with("wgmma") ? offer.action : offer.pattern;
      if (!seen.insert(kind).second) continue;
      const auto screening = (*evaluator)->screen(offer.kernel);
      ASSERT_TRUE(screening) << screening.error().to_string();
      const bool accepted = screening->verdict.accepted();
      EXPECT_TRUE(accepted) << offer.pattern << ": " << evaluate::name_of(screening->verdict.kind) << ": " << screening->verdict.reason << "\n"
                            << screening->verdict.detail << "\n" << offer.kernel.source;
      line += fmt::format("  {} {}{}", kernel::name_of(language), kind == "parts" ? offer.action : kind,
                          accepted ? "" : " REFUSED");
    }
  }
  if (line.empty()) GTEST_SKIP() << "plain loops only";
  std::printf("TABLE %-60s%s\n", GetParam().name.c_str(), line.c_str());
}

INSTANTIATE_TEST_SUITE_P(Tasks, GpuSuites, testing::ValuesIn(plain_testing::task_files("tasks/kernelbench")),
                         [](const auto& parameter) { return "t" + parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
