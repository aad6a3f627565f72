// Every form of the convolution in C++, at shapes that are multiples of nothing, judged: with the defaults and
// with tunables that make many small blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "hone/base/random.h"
#include "hone/base/testing/covering.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/library.h"

namespace hone::pattern {
namespace {

struct Case {
  std::string name, compute;
  std::vector<std::string> inputs, workloads;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// Each number of dimensions, direction, type and step once, in `make check`; all others in `make check-long`.
const std::set<std::string> kOften = {"an_epilogue", "strides_padding_dilation", "line_bf16", "groups_in_space", "transposed", "depthwise"};

std::vector<Case> cases(bool often) {
  std::vector<Case> all = {
      {"one_channel", "y = conv2d(x, w, padding=1)", {"x=f32[N,1,H,W]", "w=f32[1,1,3,3]"}, {"N=2,H=9,W=17"}},
      {"an_epilogue", "y = relu(conv2d(x, w, b, padding=1)) * s + r", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]", "b=f32[O]", "s=f32[O,1,1]", "r=f32[N,O,H,W]"},
       {"N=2,C=19,O=37,H=9,W=21", "N=1,C=3,O=5,H=2,W=70"}},
      {"a_long_depth", "y = conv1d(x, w)", {"x=f32[N,C,L]", "w=f32[O,C,3]"}, {"N=2,C=211,O=20,L=40"}},
      {"strides_padding_dilation", "y = conv2d(x, w, b, stride=(2, 3), padding=(3, 2), dilation=(1, 2))",
       {"x=f32[N,C,H,W]", "w=f32[O,C,3,5]", "b=f32[O]"}, {"N=2,C=5,O=13,H=12,W=23"}},
      {"padding_wider_than_lines", "y = conv2d(x, w, padding=(5, 6))", {"x=f32[N,C,H,W]", "w=f32[O,C,2,3]"}, {"N=2,C=2,O=3,H=3,W=2"}},
      {"line_bf16", "y = conv1d(x, w, b, stride=3, padding=4, dilation=2)", {"x=bf16[N,C,L]", "w=bf16[O,C,5]", "b=bf16[O]"}, {"N=3,C=7,O=10,L=101"}},
      {"mixed_types", "y = conv2d(x, w)", {"x=f16[N,C,H,W]", "w=f32[O,C,3,3]"}, {"N=2,C=4,O=9,H=7,W=9"}},
      {"groups_in_space", "y = conv3d(x, w, padding=(1, 2, 0), groups=2)", {"x=f32[N,2*C,D,H,W]", "w=f32[2*O,C,3,2,3]"}, {"N=2,C=3,O=5,D=4,H=5,W=9"}},
      {"two_results_a_channel", "y = conv2d(x, w, groups=C)", {"x=f32[N,C,H,W]", "w=f32[2*C,1,3,3]"}, {"N=2,C=3,H=6,W=9"}},
      {"transposed", "y = conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 2), output_padding=1, dilation=(2, 1), groups=G)",
       {"x=f32[N,G*C,H,W]", "w=f32[G*C,O,3,5]", "b=f32[G*O]"}, {"N=2,G=2,C=5,O=3,H=4,W=9"}},
      {"transposed_with_places_of_no_tap", "y = conv_transpose1d(x, w, stride=5, padding=1, dilation=2)", {"x=f32[N,C,L]", "w=f32[C,O,2]"}, {"N=2,C=4,O=9,L=27"}},
      {"transposed_in_space", "y = conv_transpose3d(x, w, stride=(1, 2, 2), padding=1)", {"x=f16[N,C,D,H,W]", "w=f16[C,O,3,3,2]"}, {"N=1,C=6,O=5,D=3,H=4,W=5"}},
      {"transposed_side_by_side", "y = relu(conv_transpose2d(x, w, padding=(0, 1)))", {"x=f32[N,C,H,W]", "w=f32[C,O,2,7]"}, {"N=2,C=6,O=5,H=4,W=9"}},
      {"depthwise", "y = silu(conv2d(x, w, b, stride=(2, 1), padding=(2, 3), dilation=(1, 2), groups=C))",
       {"x=f32[N,C,H,W]", "w=f32[C,1,3,3]", "b=f32[C]"}, {"N=2,C=5,H=11,W=18"}},
      {"depthwise_line_f16", "y = conv1d(x, w, padding=3, groups=C)", {"x=f16[N,C,L]", "w=f16[C,1,4]"}, {"N=2,C=3,L=301"}},
      {"causal", "y = conv1d(pad(x, low=[0, 0, 3], high=[0, 0, 0]), w)", {"x=f32[N,C,L]", "w=f32[O,C,4]"}, {"N=2,C=3,O=4,L=301"}},
  };
  std::erase_if(all, [&](const Case& c) { return kOften.contains(c.name) != often; });
  return all;
}

class CppConv : public testing::TestWithParam<Case> {};

TEST_P(CppConv, IsAccepted) {
  const Case& c = GetParam();
  const task::Task task = task::task_from_expressions(c.compute, c.inputs, c.workloads).value();
  const auto judge = judge_testing::Judge::create(task);
  ASSERT_TRUE(judge) << judge.error().to_string();
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(task, why_not);
  ASSERT_FALSE(offers.empty()) << (why_not.empty() ? "" : why_not.front());
  EXPECT_EQ(offers.front().pattern, "conv");
  base::Rng rng(11);
  for (int drawn = 0; drawn < 3; ++drawn) {
    if (!base::testing::takes_item(static_cast<size_t>(drawn), 3)) continue;
    kernel::Kernel kernel = offers.front().kernel;
    for (const auto& tunable : kernel.header.tunables) {
      if (drawn == 1) kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      if (drawn == 2) kernel.config[tunable.name] = *std::min_element(tunable.values.begin(), tunable.values.end());
    }
    judge->expect_accepted(kernel, offers.front().action);
  }
}

const auto name_of_conv = [](const auto& parameter) { return parameter.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, CppConv, testing::ValuesIn(base::testing::one_of_each(2, cases(true))), name_of_conv);
INSTANTIATE_TEST_SUITE_P(LongAllOfCases, CppConv, testing::ValuesIn(cases(true)), name_of_conv);
INSTANTIATE_TEST_SUITE_P(LongCases, CppConv, testing::ValuesIn(cases(false)), name_of_conv);

TEST(CppConvForm, AViewThatItReadsIsStored) {
  const task::Task task = task::task_from_expressions("y = conv1d(x.mT, w)", {"x=f32[N,L,C]", "w=f32[O,C,3]"}, {"N=2,C=3,O=4,L=9"}).value();
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(task, why_not);
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers.front().action, "in 2 parts: map, conv");
  EXPECT_EQ(offers.front().plain_share, 0);
}

TEST(CppConvForm, WhatRunsAlongPartsOfSpaceIsAPartOfItsOwn) {
  const task::Task task = task::task_from_expressions("y = conv2d(x, w) * c", {"x=f32[N,C,H,W]", "w=f32[O,C,1,3]", "c=f32[W-2]"}, {"N=2,C=3,O=4,H=5,W=9"}).value();
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(task, why_not);
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers.front().action, "in 2 parts: conv, map");
  EXPECT_EQ(offers.front().plain_share, 0);
}

}  // namespace
}  // namespace hone::pattern
