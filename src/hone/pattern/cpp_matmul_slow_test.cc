// Every form of the matrix product in C++, at shapes that are multiples of nothing, judged: with the
// defaults and with tunables that make many small blocks.
#include "hone/pattern/cpp_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "hone/base/random.h"
#include "hone/base/testing/covering.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/library.h"

namespace hone::pattern::cpp_matmul_slow_cases {
namespace {

struct Case {
  std::string name, compute;
  std::vector<std::string> inputs, workloads;
  std::string action;                         ///< of the first offer
  task::Structure structure = task::Structure::kNone;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// Each form, layout of its factors and kind of element once, of which `make check` takes every second one; all others in `make check-long`.
const std::set<std::string> kOften = {"rows_times_columns", "strides_on_both_sides", "deep", "a_batch_of_few_rows", "bf16_in_parts",
                                      "bytes_with_scales", "f64_transposed", "upper_triangles", "part_of_the_result"};

std::vector<Case> cases(bool often) {
  const std::vector<std::string> two = {"M=40,K=300,N=136", "M=29,K=67,N=51"};
  const std::vector<std::string> square = {"N=96", "N=131"};
  constexpr char kWhole[] = "pack and tile", kParts[] = "split the depth", kZeros[] = "pack and tile, skip zeros";
  constexpr auto kUpper = task::Structure::kTriu, kLower = task::Structure::kTril;
  std::vector<Case> all = {
      {"rows_times_columns", "C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, two, kWhole},
      {"both_transposed", "C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, two, kWhole},
      {"f64_transposed", "C = A.T @ B.T", {"A=f64[K,M]", "B=f64[N,K]"}, two, kWhole},
      {"strides_on_both_sides", "y = einsum('kmb,nkb->bmn', a, b)", {"a=f32[K,M,B]", "b=f32[N,K,B]"}, {"B=3,M=9,K=35,N=21"}, kWhole},
      {"deep", "y = gelu(A @ B) + c", {"A=f32[M,K]", "B=f32[K,N]", "c=f32[N]"}, {"M=29,K=2100,N=37", "M=13,K=77,N=300"}, kParts},
      {"deep_transposed", "C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, {"M=29,K=2100,N=37", "M=5,K=1,N=9"}, kParts},
      {"a_batch_of_few_rows", "y = x @ w.T", {"x=f16[B,M,K]", "w=f16[N,K]"}, {"B=3,M=5,K=130,N=1030", "B=2,M=3,K=31,N=17"}, kParts},
      {"few_columns", "y = relu(x @ w)", {"x=f32[M,K]", "w=f32[K,N]"}, {"M=1030,K=70,N=7"}, kParts},
      {"bf16", "y = gelu(linear(x, w, b))", {"x=bf16[M,K]", "w=bf16[N,K]", "b=bf16[N]"}, two, kWhole},
      {"bf16_other_layouts", "C = A.T @ B", {"A=bf16[K,M]", "B=bf16[K,N]"}, two, kWhole},
      {"bf16_in_parts", "C = A @ B", {"A=bf16[M,K]", "B=bf16[K,N]"}, {"M=29,K=2101,N=37"}, kParts},
      {"bf16_and_f32", "C = A @ B", {"A=bf16[M,K]", "B=f32[K,N]"}, two, kWhole},
      {"rows_in_another_order", "y = transpose(relu(x @ w), 0, 1)", {"x=f32[B,M,K]", "w=f32[K,N]"}, {"B=3,M=29,K=21,N=37", "B=2,M=7,K=5,N=130"}, kWhole},
      {"bytes_with_scales", "acc = i32(x) @ i32(w).T\ny = bf16(f32(acc) * s)", {"x=i8[M,K]", "w=i8[N,K]", "s=f32[N]"}, two, kWhole},
      {"bytes_in_other_layouts", "y = transpose(i32(x), 0, 1) @ i32(w)", {"x=i8[K,M]", "w=i8[K,N]"}, two, kWhole},
      {"bytes_in_parts", "y = i32(x) @ i32(w).T", {"x=i8[M,K]", "w=i8[N,K]"}, {"M=29,K=2103,N=37"}, kParts},
      {"upper_triangles", "C = triu(A @ B)", {"A=f32[N,N]", "B=f32[N,N]"}, square, kZeros, kUpper},
      {"lower_triangles", "C = tril(A @ B)", {"A=f32[N,N]", "B=f32[N,N]"}, square, kZeros, kLower},
      {"lower_triangles_transposed", "C = A.T @ B.T", {"A=f32[N,N]", "B=f32[N,N]"}, square, kZeros, kLower},
      {"triangle_and_rectangle", "C = A @ B + c", {"A=f32[N,N]", "B=f32[N,M]", "c=f32[M]"}, {"N=96,M=40", "N=131,M=33"}, kZeros, kUpper},
      {"part_of_the_result", "C = tril(A @ B)", {"A=f32[N,M]", "B=f32[M,N]"}, {"N=96,M=40", "N=131,M=33"}, kZeros},
  };
  std::erase_if(all, [&](const Case& c) { return kOften.contains(c.name) != often; });
  return all;
}

task::Task task_of(const Case& c) {
  task::Task task = task::task_from_expressions(c.compute, c.inputs, c.workloads).value();
  if (c.structure == task::Structure::kNone) return task;
  for (task::InputSpec& input : task.inputs)
    if (input.type.dims.size() == 2 && input.type.dims[0] == input.type.dims[1]) input.structure = c.structure;
  return task::parse_task(task.to_toml(), c.name).value();
}

class CppMatmul : public testing::TestWithParam<Case> {};

TEST_P(CppMatmul, EveryOfferIsAccepted) {
  const Case& c = GetParam();
  const task::Task task = task_of(c);
  const auto judge = judge_testing::Judge::create(task);
  ASSERT_TRUE(judge) << judge.error().to_string();
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(task, why_not);
  ASSERT_FALSE(offers.empty()) << (why_not.empty() ? "" : why_not.front());
  EXPECT_EQ(offers.front().action, c.action);
  base::Rng rng(11);
  for (const Offer& offer : offers)
    for (int drawn = 0; drawn < 3; ++drawn) {
      if (!base::testing::takes_item(static_cast<size_t>(&offer - offers.data()) * 3 + static_cast<size_t>(drawn), offers.size() * 3)) continue;
      kernel::Kernel kernel = offer.kernel;
      if (drawn == 1)
        for (const auto& tunable : kernel.header.tunables) kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      if (drawn == 2)
        for (const char* name : {"DEPTH", "TALL", "WIDE", "COLUMNS"}) {
          const auto& tunables = kernel.header.tunables;
          const auto of = std::find_if(tunables.begin(), tunables.end(), [&](const auto& t) { return t.name == name; });
          ASSERT_NE(of, tunables.end()) << name;
          kernel.config[name] = *std::min_element(of->values.begin(), of->values.end());
        }
      judge->expect_accepted(kernel, offer.action);
    }
}

const auto name_of = [](const auto& parameter) { return parameter.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, CppMatmul, testing::ValuesIn(base::testing::one_of_each(2, cases(true))), name_of);
INSTANTIATE_TEST_SUITE_P(LongAllOfCases, CppMatmul, testing::ValuesIn(cases(true)), name_of);
INSTANTIATE_TEST_SUITE_P(LongCases, CppMatmul, testing::ValuesIn(cases(false)), name_of);

}  // namespace
}  // namespace hone::pattern::cpp_matmul_slow_cases
