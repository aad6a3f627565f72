#include "hone/evaluate/verify/low_half.h"

#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

using testing::Case;

TEST(LowHalf, IsOfWhatOnlyMovesAddsAndMultiplies) {
  const auto has = [](const std::string& compute, const std::vector<std::string>& inputs) {
    const Case c(compute, inputs);
    return low_half(c.task, c.graph).has_value();
  };
  EXPECT_TRUE(has("y = sum(x, axis=1)", {"x=i64[7,30]"}));
  EXPECT_TRUE(has("y = x * w - 3", {"x=i64[7,30]", "w=i64[7,30]"}));
  EXPECT_TRUE(has("y = cumsum(x.T, axis=0) + i64(w)", {"x=i64[7,30]", "w=i8[30,7]"}));
  EXPECT_FALSE(has("y = sum(x, axis=1)", {"x=i32[7,30]"})) << "nothing that doubles do not hold";
  EXPECT_FALSE(has("y = x // 3", {"x=i64[7,30]"}));
  EXPECT_FALSE(has("y = maximum(x, 0)", {"x=i64[7,30]"}));
  EXPECT_FALSE(has("y = f32(x) * 0.5", {"x=i64[7,30]"}));
  EXPECT_FALSE(has("y = prod(x, axis=1)", {"x=i64[7,30]"})) << "halves have no exact product in doubles either";
}

TEST(LowHalf, OfAnswersFollowFromThoseOfInputs) {
  const Case c("y = sum(x * 3 - w, axis=1)", {"x=i64[50,40]", "w=i64[50,40]"});
  const auto half = low_half(c.task, c.graph);
  ASSERT_TRUE(half);
  base::Rng rng(5);
  std::vector<int64_t> x(2000), w(2000), right(50), in_doubles(50);
  for (auto* values : {&x, &w})
    for (int64_t& value : *values) value = static_cast<int64_t>(rng.next_u64());
  for (size_t b = 0; b < 50; ++b) {
    uint64_t sum = 0;
    double wide = 0;
    for (size_t i = 40 * b; i < 40 * b + 40; ++i) {
      sum += static_cast<uint64_t>(x[i]) * 3 - static_cast<uint64_t>(w[i]);
      wide += static_cast<double>(x[i] >> 8) * 3 - static_cast<double>(w[i] >> 8);
    }
    right[b] = static_cast<int64_t>(sum);
    in_doubles[b] = static_cast<int64_t>(wide);
  }
  std::vector<std::vector<int32_t>> stores(3);
  const Oracle oracle(*half, {low_half({task::DType::kI64, {50, 40}, x.data()}, stores[0]), low_half({task::DType::kI64, {50, 40}, w.data()}, stores[1])},
                      c.task.track, 1);
  const Reference reference = make_reference(*half, oracle, c.task.track, 0, plan_boxes(*half, 0, {}), 1);
  const auto mismatches = [&](const std::vector<int64_t>& answer) {
    return compare_output(*half, 0, reference, low_half({task::DType::kI64, {50}, answer.data()}, stores[2]).data, 1).mismatches;
  };
  EXPECT_EQ(mismatches(right), 0);
  EXPECT_GT(mismatches(in_doubles), 45);
  right[17] += 1;
  EXPECT_EQ(mismatches(right), 1);
}

}  // namespace
}  // namespace hone::evaluate
