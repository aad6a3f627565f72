// What hone writes itself has nothing for the sanitizers to find: a promotion that refused it would be
// wrong about one of the two.
#include <gtest/gtest.h>

#include <ostream>

#include "hone/evaluate/sanitize.h"
#include "hone/pattern/library.h"

namespace hone::pattern {
namespace {

struct Case {
  const char* name;
  const char* compute;
  std::vector<std::string> inputs;
  const char* workload;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Sanitized : public testing::TestWithParam<Case> {};

TEST_P(Sanitized, FindsNothing) {
  const Case& c = GetParam();
  const task::Task task = task::task_from_expressions(c.compute, c.inputs, {c.workload}).value();
  evaluate::Loader loader(task, target::cpp_toolchain().value(), 2);
  std::vector<Offer> offers;
  std::vector<std::string> why_not;
  offers.push_back({naive_cpp(task), "naive", ""});
  for (Offer& offer : offers_cpp(task, why_not)) offers.push_back(std::move(offer));
  ASSERT_FALSE(offers.empty());
  for (const Offer& offer : offers) {
    std::vector<task::Bindings> shapes;
    for (const task::Bindings& shape : evaluate::hidden_shapes(task, 7)) {
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

INSTANTIATE_TEST_SUITE_P(
    Patterns, Sanitized,
    testing::Values(Case{"softmax", "y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"},
                    Case{"columns", "y = softmax(x, axis=0)", {"x=f32[B,D]"}, "B=64,D=64"},
                    Case{"layer_norm", "y = layer_norm(x, w, b)", {"x=f32[B,D]", "w=f32[D]", "b=f32[D]"}, "B=64,D=64"},
                    Case{"half_precision", "y = gelu(x) * 2", {"x=bf16[B,D]"}, "B=64,D=64"},
                    Case{"sum", "y = sum(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"},
                    Case{"argmax", "y = argmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"},
                    Case{"integers", "y = x * 3 + 1", {"x=i32[N]"}, "N=64"},
                    Case{"product", "y = relu(x @ w + b)", {"x=f32[M,K]", "w=f32[K,N]", "b=f32[N]"}, "K=64,M=64,N=64"},
                    Case{"scan", "y = cumsum(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=64"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace hone::pattern
