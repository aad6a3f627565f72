// What hone writes itself has nothing for the sanitizers to find: a promotion that refused it would be
// wrong about one of the two.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/sanitize.h"
#include "hone/pattern/library.h"
#include "hone/target/simt_device.h"

namespace hone::pattern::sanitized_slow_cases {
namespace {

struct Case {
  const char* name;
  const char* compute;
  std::vector<std::string> inputs;
  const char* workload;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Sanitized : public testing::TestWithParam<Case> {};

void expect_nothing(const Case& c, const std::shared_ptr<target::Toolchain>& toolchain, const std::vector<Offer>& offers, const task::Task& task,
                    const std::vector<task::Bindings>& hidden) {
  evaluate::Loader loader(task, toolchain, 2);
  ASSERT_FALSE(offers.empty()) << c.name;
  for (size_t i = 0; i < offers.size(); ++i) {
    if (!base::testing::takes_item(i % 3, std::min<size_t>(3, offers.size()))) continue;  // every third
    const Offer& offer = offers[i];
    std::vector<task::Bindings> shapes;
    for (const task::Bindings& shape : hidden) {
      const auto fits = kernel::applies(offer.kernel, shape, loader.limits_for(offer.kernel));
      if (shapes.size() < 4 && fits && *fits) shapes.push_back(shape);
    }
    evaluate::Spent spent;
    const auto result = evaluate::sanitize(offer.kernel, shapes, loader, spent);
    ASSERT_TRUE(result) << result.error().to_string();
    if (!result->unavailable.empty() && !shapes.empty()) GTEST_SKIP() << result->unavailable;
    EXPECT_TRUE(result->verdict.accepted())
        << offer.pattern << " " << offer.action << ": " << result->verdict.reason << "\n" << result->verdict.detail;
    EXPECT_EQ(result->shapes, static_cast<int>(shapes.size()));
  }
}

TEST_P(Sanitized, FindsNothing) {
  const Case& c = GetParam();
  const task::Task task = task::task_from_expressions(c.compute, c.inputs, {c.workload}).value();
  std::vector<std::string> why_not;
  std::vector<Offer> offers = offers_cpp(task, why_not);
  offers.insert(offers.begin(), Offer{naive_cpp(task), "naive", ""});
  expect_nothing(c, target::cpp_toolchain().value(), offers, task, evaluate::hidden_shapes(task, 7));
}

// Products of integers whose parts are too large for any type, though a zero makes the whole one; floats that are too large for an integer.
class SanitizedOnCards : public testing::TestWithParam<Case> {};

TEST_P(SanitizedOnCards, FindsNothing) {
  const Case& c = GetParam();
  auto simt = target::simt_toolchain();
  if (!simt) GTEST_SKIP() << simt.error().to_string();
  const task::Task task = task::task_from_expressions(c.compute, c.inputs, {c.workload}).value();
  std::vector<std::string> why_not;
  expect_nothing(c, std::move(*simt), offers_gpu(task, kernel::Language::kCuda, why_not), task, evaluate::hidden_shapes(task, 7, 1 << 12, 0));
}

const Case kIntegers[] = {{"products", "y = prod(x, axis=-1)", {"x=i32[B,D]"}, "B=10,D=30"},
                          {"running_products", "y = cumprod(x, axis=-1)", {"x=i32[B,D]"}, "B=10,D=50"},
                          {"sums", "y = sum(x * x, axis=-1)", {"x=i64[B,D]"}, "B=10,D=50"},
                          {"casts", "y = i8(x)", {"x=f32[N]"}, "N=1000"}};

const Case kPatterns[] = {{"softmax", "y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"},
                          {"columns", "y = softmax(x, axis=0)", {"x=f32[B,D]"}, "B=64,D=64"},
                          {"layer_norm", "y = layer_norm(x, w, b)", {"x=f32[B,D]", "w=f32[D]", "b=f32[D]"}, "B=64,D=64"},
                          {"half_precision", "y = gelu(x) * 2", {"x=bf16[B,D]"}, "B=64,D=64"},
                          {"sum", "y = sum(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"},
                          {"argmax", "y = argmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"},
                          {"integers", "y = x * 3 + 1", {"x=i32[N]"}, "N=64"},
                          {"product", "y = relu(x @ w + b)", {"x=f32[M,K]", "w=f32[K,N]", "b=f32[N]"}, "K=64,M=64,N=64"},
                          {"scan", "y = cumsum(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"}};

std::string case_name(const testing::TestParamInfo<Case>& parameter) { return parameter.param.name; }

INSTANTIATE_TEST_SUITE_P(Integers, SanitizedOnCards, testing::ValuesIn(base::testing::one_of_each(2, std::vector<Case>(std::begin(kIntegers), std::end(kIntegers)))), case_name);
INSTANTIATE_TEST_SUITE_P(LongIntegers, SanitizedOnCards, testing::ValuesIn(kIntegers), case_name);
INSTANTIATE_TEST_SUITE_P(Patterns, Sanitized, testing::ValuesIn(base::testing::one_of_each(4, std::vector<Case>(std::begin(kPatterns), std::end(kPatterns)))), case_name);
INSTANTIATE_TEST_SUITE_P(LongPatterns, Sanitized, testing::ValuesIn(kPatterns), case_name);

}  // namespace
}  // namespace hone::pattern::sanitized_slow_cases
