// The tasks of KernelBench at their tiny workload in TileLang, on the emulator: a table of the patterns that cover them, which must be
// accepted, and of what TileLang's patterns do not take; and the tasks of test/cases/pattern; tasks whose contract has NaN. Skipped without TileLang.
#include <gtest/gtest.h>

#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/evaluator.h"
#include "hone/pattern/families_testing.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_testing.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/target/toolchain/python_compiler.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

/// Every offer for it is accepted; how many there are.
void expect_offers_accepted(const task::Task& task, const std::string& name, size_t& count, kernel::Language language = kernel::Language::kCuda) {
  std::vector<std::string> why_not;
  const std::vector<Offer> offers = offers_tilelang(task, why_not);
  count = offers.size();
  if (offers.empty()) {
    std::printf("TABLE %-60s  NOT COVERED %s\n", name.c_str(), fmt::format("{}", fmt::join(why_not, "; ")).c_str());
    return;
  }
  auto emulator = target::emulator_toolchain(language);
  if (!emulator) GTEST_SKIP() << emulator.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*emulator);
  auto evaluator = evaluate::emulated_evaluator(task, toolchain, {});
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  for (const Offer& offer : offers) {
    const auto screening = (*evaluator)->screen(offer.kernel);
    ASSERT_TRUE(screening) << screening.error().to_string();
    const bool accepted = screening->verdict.accepted();
    EXPECT_TRUE(accepted) << offer.pattern << ": " << evaluate::name_of(screening->verdict.kind) << ": " << screening->verdict.reason << "\n"
                          << screening->verdict.detail << "\n" << offer.kernel.source;
    std::printf("TABLE %-60s  %s%s\n", name.c_str(), offer.pattern.c_str(), accepted ? "" : " REFUSED");
  }
}

class TileLangSuites : public testing::TestWithParam<TaskFile> {};

TEST_P(TileLangSuites, OffersAreAcceptedAtTiny) {
  if (const auto& install = target::find_python(target::kTileLangRow); !install) GTEST_SKIP() << install.error().to_string();
  const auto task = plain_testing::task_at(GetParam(), "tiny");
  ASSERT_TRUE(task) << task.error().to_string();
  size_t offers = 0;
  expect_offers_accepted(*task, GetParam().name, offers);
}

// What TileLang folds as if there were no NaN (x != x, the negation of a comparison) is written otherwise.
TEST(TileLangNan, GoesWhereTheFormulaSays) {
  if (const auto& install = target::find_python(target::kTileLangRow); !install) GTEST_SKIP() << install.error().to_string();
  const std::pair<const char*, std::vector<std::string>> tasks[] = {
      {"y = maximum(x, 0)", {}}, {"y = minimum(1, x)", {}}, {"y = maximum(x, w)", {"w=f32[37]"}}, {"y = sign(x)", {}},
      {"y = where(x == x, -x, 0)", {}}, {"y = where(x != x, 1, -x)", {}}, {"y = where(not (x < 0), 1, 2)", {}}, {"y = isnan(x) or x > 1", {}},
      {"y = max(x, axis=1)", {}}, {"y = min(x, axis=1)", {}}, {"y = argmax(x, axis=1)", {}}, {"y = relu(x @ w)", {"w=f32[37, 20]"}},
      {"y = cummax(x, axis=1)", {}}, {"y = cummin(x, axis=0)", {}}, {"y = logcumsumexp(x, axis=1)", {}}, {"y = cumprod(x, axis=1, reverse=true)", {}},
      {"v, i = topk(x, 5)", {}}, {"y = sort(x, descending=false)", {}},
  };
  for (auto [compute, inputs] : tasks) {
    SCOPED_TRACE(compute);
    inputs.push_back("x=f32[N, 37]");
    auto task = task::task_from_expressions(compute, inputs, {"N=11"});
    ASSERT_TRUE(task) << task.error().to_string();
    task->nan_policy = true;
    size_t offers = 0;
    expect_offers_accepted(*task, compute, offers);
    EXPECT_GT(offers, 0u);
  }
}

// Every task of test/cases/pattern: what is offered is accepted.
class TileLangFamilies : public testing::TestWithParam<families_testing::Case> {};

TEST_P(TileLangFamilies, OffersAreAccepted) {
  if (const auto& install = target::find_python(target::kTileLangRow); !install) GTEST_SKIP() << install.error().to_string();
  const auto task = families_testing::task_of(GetParam(), {{"77", "5", "3", "41"}});
  ASSERT_TRUE(task) << task.error().to_string();
  size_t offers = 0;
  expect_offers_accepted(*task, GetParam().name, offers);
}

INSTANTIATE_TEST_SUITE_P(Cases, TileLangFamilies, testing::ValuesIn(families_testing::cases()),
                         [](const auto& parameter) { return families_testing::test_name(parameter.param); });

struct AttentionCase {
  const char *name, *compute;
  std::vector<std::string> inputs;
};
const AttentionCase kAttentions[] = {
    {"causal", "y = attention(q, k, v, causal=true)", {"q=bf16[2,70,32]", "k=bf16[2,70,32]", "v=bf16[2,70,32]"}},
    {"window", "i = arange(150)\nd = i[:, none] - i[none, :]\ny = softmax(where((d >= 0) & (d < 20), q @ k.mT, -inf), axis=-1) @ v",
     {"q=f16[2,150,16]", "k=f16[2,150,16]", "v=f16[2,150,16]"}},
    {"masked", "y = attention(q, k, v, mask=m) + q", {"q=f32[2,2,9,40]", "k=f32[2,2,40,40]", "v=f32[2,2,40,40]", "m=bool[2,1,9,40]"}},
    {"capped", "y = softmax(tanh(q @ k.mT * 0.1) * 30.0, axis=-1) @ v", {"q=bf16[2,33,64]", "k=bf16[2,35,64]", "v=bf16[2,35,96]"}},
    {"grouped", "y = attention(q, k, v, causal=true, enable_gqa=true)", {"q=f16[1,6,37,128]", "k=f16[1,2,37,128]", "v=f16[1,2,37,128]"}},
    {"wide", "y = attention(q, k, v)", {"q=bf16[1,20,256]", "k=bf16[1,50,256]", "v=bf16[1,50,256]"}},
    {"decoding", "y = attention(q, k, v, enable_gqa=true)", {"q=f16[1,8,1,64]", "k=f16[1,2,90,64]", "v=f16[1,2,90,64]"}},
};
class TileLangAttention : public testing::TestWithParam<std::tuple<AttentionCase, kernel::Language>> {};

TEST_P(TileLangAttention, IsOnePassOverTheKeys) {
  if (const auto& install = target::find_python(target::kTileLangRow); !install) GTEST_SKIP() << install.error().to_string();
  const auto& [its, language] = GetParam();
  const auto task = task::task_from_expressions(its.compute, its.inputs, {});
  ASSERT_TRUE(task) << task.error().to_string();
  std::vector<std::string> why_not;
  const auto offers = offers_tilelang(*task, why_not);
  ASSERT_TRUE(!offers.empty() && offers.front().pattern == "attention") << fmt::format("{}", fmt::join(why_not, "; "));
  size_t count = 0;
  expect_offers_accepted(*task, its.name, count, language);
}

INSTANTIATE_TEST_SUITE_P(Cases, TileLangAttention,
                         testing::Combine(testing::ValuesIn(kAttentions), testing::Values(kernel::Language::kCuda, kernel::Language::kHip)),
                         [](const auto& parameter) {
                           return fmt::format("{}_{}", std::get<0>(parameter.param).name, kernel::name_of(std::get<1>(parameter.param)));
                         });
INSTANTIATE_TEST_SUITE_P(Tasks, TileLangSuites, testing::ValuesIn(plain_testing::task_files("tasks/kernelbench/level1")),
                         [](const auto& parameter) { return "t" + parameter.param.name; });
INSTANTIATE_TEST_SUITE_P(Inference, TileLangSuites, testing::ValuesIn(plain_testing::task_files("tasks/inference")),
                         [](const auto& parameter) { return "t" + parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
