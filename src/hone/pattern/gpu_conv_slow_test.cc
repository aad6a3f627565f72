// Every offer for convolutions on both emulated GPUs, judged by the evaluator at small, odd shapes.
#include "hone/pattern/gpu_conv.h"

#include <gtest/gtest.h>

#include <ostream>

#include <fmt/format.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/judge_testing.h"

namespace hone::pattern::gpu_conv_slow_cases {
namespace {

using kernel::Language;

struct Case {
  std::string name, compute;
  std::vector<std::string> inputs, workloads;
  size_t offers = 3;   ///< on CUDA
  task::Track track = task::Track::kStrict;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  return {
      {"strides_padding_dilation", "y = conv2d(x, w, b, stride=(2, 3), padding=(3, 2), dilation=(1, 2))",
       {"x=f32[N,C,H,W]", "w=f32[O,C,3,4]", "b=f32[O]"}, {"N=2,C=3,O=5,H=9,W=17", "N=3,C=5,O=33,H=8,W=13"}, 4},
      {"one_channel", "y = conv2d(x, w, padding=1)", {"x=f32[N,1,H,W]", "w=f32[1,1,3,3]"}, {"N=2,H=9,W=17"}, 4},
      {"an_epilogue", "y = relu(conv2d(x, w, b, padding=1)) * s + r",
       {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]", "b=f32[O]", "s=f32[O,1,1]", "r=f32[N,O,H,W]"}, {"N=2,C=4,O=6,H=5,W=7"}, 4},
      {"a_long_depth", "y = conv1d(x, w)", {"x=f32[N,C,L]", "w=f32[O,C,3]"}, {"N=2,C=211,O=20,L=40"}, 4},
      {"line_bf16", "y = conv1d(x, w, b, stride=3, padding=4, dilation=2)",
       {"x=bf16[N,C,L]", "w=bf16[O,C,5]", "b=bf16[O]"}, {"N=3,C=4,O=9,L=67"}, 3},
      {"mixed_types", "y = conv2d(x, w)", {"x=f16[N,C,H,W]", "w=f32[O,C,3,3]"}, {"N=2,C=4,O=9,H=7,W=9"}, 1},
      {"groups_in_space", "y = conv3d(x, w, padding=(1, 2, 0), groups=2)",
       {"x=f32[N,2*C,D,H,W]", "w=f32[2*O,C,3,2,1]"}, {"N=2,C=3,O=5,D=4,H=5,W=7"}},
      {"two_results_a_channel", "y = conv2d(x, w, groups=C)", {"x=f32[N,C,H,W]", "w=f32[2*C,1,3,3]"}, {"N=2,C=3,H=6,W=9"}},
      {"transposed", "y = conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 2), output_padding=1, dilation=(2, 1), groups=G)",
       {"x=f32[N,G*C,H,W]", "w=f32[G*C,P,3,5]", "b=f32[G*P]"}, {"N=2,G=2,C=3,P=5,H=5,W=7"}},
      {"transposed_with_positions_of_no_tap", "y = conv_transpose1d(x, w, stride=5, padding=1, dilation=2)",
       {"x=f32[N,C,L]", "w=f32[C,O,2]"}, {"N=2,C=3,O=17,L=23"}},
      {"transposed_by_less_than_a_stride", "y = conv_transpose2d(x, w, stride=4)",
       {"x=f32[N,C,H,W]", "w=f32[C,O,1,2]"}, {"N=1,C=3,O=4,H=1,W=3"}},
      {"transposed_in_space", "y = conv_transpose3d(x, w, stride=(1, 2, 2), padding=1)", {"x=f32[N,C,D,H,W]", "w=f32[C,O,3,3,2]"},
       {"N=1,C=3,O=4,D=3,H=4,W=5"}},
      {"runs", "y = relu(conv2d(x, w, b, padding=1)) + r", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]", "b=f32[O]", "r=f32[N,O,H,W]"},
       {"N=2,C=16,O=20,H=11,W=19", "N=1,C=33,O=49,H=3,W=1"}, 4},
      {"runs_in_tf32", "y = conv2d(x, w, padding=(1, 2))", {"x=f32[N,C,H,W]", "w=f32[O,C,3,5]"}, {"N=3,C=16,O=35,H=9,W=13"}, 4,
       task::Track::kAsPytorch},
      {"runs_of_several_classes", "y = conv2d(x, w, stride=(2, 3), padding=(3, 2), dilation=(1, 2))", {"x=f32[N,C,H,W]", "w=f32[O,C,3,5]"},
       {"N=2,C=23,O=5,H=9,W=37"}, 4},
      {"runs_two_apart", "y = conv1d(x, w, stride=4, padding=3, dilation=2)", {"x=f32[N,C,L]", "w=f32[O,C,9]"}, {"N=3,C=12,O=9,L=267"}, 4},
      {"runs_dilated_in_space", "y = conv3d(x, w, padding=(1, 2, 0), dilation=(1, 2, 3), groups=2)", {"x=f32[N,2*C,D,H,W]", "w=f32[2*O,C,3,2,4]"},
       {"N=2,C=14,O=5,D=4,H=5,W=17"}, 4},
      {"runs_transposed", "y = conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 2), output_padding=1, dilation=(2, 1), groups=G)",
       {"x=f32[N,G*C,H,W]", "w=f32[G*C,P,3,5]", "b=f32[G*P]"}, {"N=2,G=2,C=13,P=5,H=5,W=17"}, 4},
      {"runs_transposed_in_space", "y = conv_transpose3d(x, w, padding=(0, 1, 2))", {"x=f32[N,C,D,H,W]", "w=f32[C,O,3,2,7]"},
       {"N=1,C=16,O=17,D=3,H=4,W=9"}, 4},
      {"runs_of_positions_of_no_tap", "y = conv_transpose1d(x, w, stride=5, padding=1, dilation=2)", {"x=f32[N,C,L]", "w=f32[C,O,2]"},
       {"N=2,C=16,O=17,L=23"}, 4},
      {"runs_of_few_channels", "y = conv2d(x, w, b, stride=4, padding=2)", {"x=f32[N,C,H,W]", "w=f32[O,C,11,11]", "b=f32[O]"},
       {"N=2,C=3,O=33,H=23,W=45", "N=1,C=2,O=5,H=19,W=17"}, 4},
      {"runs_of_few_channels_in_space", "y = conv3d(x, w, padding=(0, 1, 2), dilation=(1, 2, 3), groups=2)",
       {"x=f32[N,2*C,D,H,W]", "w=f32[2*O,C,3,2,4]"}, {"N=2,C=2,O=17,D=5,H=6,W=11"}, 4},
      {"runs_of_few_channels_in_tf32", "y = conv2d(x, w, padding=1)", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]"}, {"N=2,C=5,O=19,H=7,W=13"}, 5,
       task::Track::kTf32},
      {"one_tap_along_the_last_dimension", "y = conv3d(x, w)", {"x=f32[N,C,D,H,W]", "w=f32[O,C,3,3,1]"}, {"N=2,C=3,O=9,D=5,H=6,W=10"}, 3},
      {"depthwise", "y = silu(conv2d(x, w, b, stride=(2, 1), padding=(2, 3), dilation=(1, 2), groups=C))",
       {"x=f32[N,C,H,W]", "w=f32[C,1,3,5]", "b=f32[C]"}, {"N=2,C=3,H=11,W=13"}, 4},
      {"depthwise_line_f16", "y = conv1d(x, w, padding=3, groups=C)", {"x=f16[N,C,L]", "w=f16[C,1,4]"}, {"N=2,C=3,L=301"}, 3},
      {"depthwise_in_space", "y = conv3d(x, w, padding=1, groups=C)", {"x=f32[N,C,D,H,W]", "w=f32[C,1,3,2,3]"}, {"N=2,C=3,D=4,H=5,W=6"}, 4},
  };
}

/// Numbers of 16 bits, in channel slices: classes of taps, folded channels, groups, odd channels and widths, one tap, lines, space, phases.
std::vector<Case> of_slices() {
  return {
      {"slices_of_two_classes", "y = relu(conv2d(x, w, b, stride=2, padding=1)) + r",
       {"x=f16[N,C,H,W]", "w=f16[O,C,3,3]", "b=f16[O]", "r=f16[N,O,(H-1)//2+1,(W-1)//2+1]"}, {"N=2,C=20,O=40,H=11,W=17", "N=3,C=80,O=33,H=5,W=8"}, 4},
      {"slices_of_few_channels", "y = conv2d(x, w, b, stride=2, padding=3)", {"x=f16[N,C,H,W]", "w=f16[O,C,7,7]", "b=f16[O]"},
       {"N=2,C=3,O=33,H=23,W=45", "N=1,C=2,O=5,H=19,W=17"}, 3},
      {"slices_of_groups", "y = conv2d(x, w, padding=2, dilation=2, groups=G)", {"x=bf16[N,G*C,H,W]", "w=bf16[G*P,C,3,3]"},
       {"N=2,G=3,C=8,P=12,H=7,W=20", "N=1,G=2,C=17,P=24,H=9,W=5"}, 3},
      {"slices_strided_otherwise", "y = conv2d(x, w, stride=(3, 2), padding=(4, 1), dilation=(2, 4))", {"x=bf16[N,C,H,W]", "w=bf16[O,C,5,5]"},
       {"N=2,C=100,O=17,H=19,W=23", "N=1,C=24,O=64,H=14,W=36"}, 4},
      {"slices_of_one_tap", "y = conv2d(x, w, stride=2) * s", {"x=f16[N,C,H,W]", "w=f16[O,C,1,1]", "s=f16[O,1,1]"},
       {"N=2,C=40,O=72,H=9,W=15", "N=1,C=64,O=16,H=8,W=8"}, 4},
      {"slices_along_a_line", "y = silu(conv1d(x, w, b, padding=6, dilation=3))", {"x=bf16[N,C,L]", "w=bf16[O,C,5]", "b=bf16[O]"},
       {"N=3,C=12,O=20,L=301", "N=2,C=33,O=130,L=260"}, 4},
      {"slices_in_space", "y = conv3d(x, w, stride=(1, 2, 1), padding=(1, 0, 2))", {"x=f16[N,C,D,H,W]", "w=f16[O,C,3,2,3]"}, {"N=1,C=16,O=9,D=3,H=6,W=7"}, 4},
      {"slices_transposed", "y = conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 2), output_padding=1, dilation=(2, 1), groups=G)",
       {"x=bf16[N,G*C,H,W]", "w=bf16[G*C,P,3,5]", "b=bf16[G*P]"}, {"N=2,G=2,C=13,P=5,H=5,W=17"}, 4},
      {"slices_transposed_with_positions_of_no_tap", "y = conv_transpose1d(x, w, stride=5, padding=1, dilation=2)", {"x=f16[N,C,L]", "w=f16[C,O,2]"},
       {"N=2,C=16,O=17,L=23"}, 4},
      {"slices_transposed_with_phases_of_no_tap", "y = conv_transpose1d(x, w, stride=2, padding=1, dilation=2)", {"x=bf16[N,C,L]", "w=bf16[C,O,3]"},
       {"N=2,C=9,O=20,L=70"}, 3},
      {"slices_in_tf32", "y = conv2d(x, w, stride=2, padding=1)", {"x=f32[N,C,H,W]", "w=f32[O,C,3,3]"}, {"N=2,C=12,O=19,H=11,W=13"}, 5, task::Track::kTf32},
  };
}

task::Task task_of(const Case& c) {
  task::Task task = task::task_from_expressions(c.compute, c.inputs, c.workloads).value();
  task.track = c.track;
  return task;
}

/// Tiles that leave rows over, and fill several blocks.
void make_other(kernel::Kernel& kernel) {
  const auto set = [&](const char* name, int64_t value) {
    if (const auto it = kernel.config.find(name); it != kernel.config.end()) it->second = value;
  };
  const bool units = kernel.config.contains("STAGES");
  set("ROWS", kernel.config.contains("THREADS") ? 2 : units ? 16 : 32), set("COLUMNS", units ? 64 : 128), set("DEPTH", units ? 32 : 8);
  set("WARP_ROWS", 16), set("WARP_COLUMNS", 32), set("STAGES", 2), set("GROUP", 1), set("THREADS", 128), set("BESIDE", 4);
  if (kernel.config.contains("TAPS")) set("LINES", 128), set("COLUMNS", 16), set("TAPS", 2), set("FETCHERS", 1), set("BLOCKS", 2), set("DEPTHS", 32);
}

class GpuConv : public testing::TestWithParam<Case> {};

TEST_P(GpuConv, EveryOfferIsAccepted) {
  auto made = target::simt_toolchain();
  if (!made) GTEST_SKIP() << "no emulator";
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*made);
  const task::Task task = task_of(GetParam());
  const auto judge = judge_testing::Judge::create(task, toolchain);
  ASSERT_TRUE(judge) << judge.error().to_string();
  for (const Language language : {Language::kCuda, Language::kHip}) {
    auto offers = gpu_conv_offers(task, language);
    if (language == Language::kCuda) { EXPECT_EQ(offers.size(), GetParam().offers); }
    ASSERT_FALSE(offers.empty());
    bool other = language == Language::kHip;
    const bool all = base::testing::in_long_part(), named_for_first = GetParam().name.starts_with("slices") || GetParam().name.starts_with("runs");
    // In `make check` one: of those named for it the first, of others each a different one, the last of which is HIP's first.
    for (Offer& offer : offers) {
      const size_t number = static_cast<size_t>(&offer - offers.data()) + (language == Language::kHip ? GetParam().offers : 0);
      const bool taken = named_for_first ? all || number == 0 : base::testing::takes_item(number, GetParam().offers + 1);
      if (other || (offer.kernel.config.contains("TAPS") && GetParam().workloads.size() == 1)) make_other(offer.kernel);
      other = !other;
      if (!taken) continue;
      judge->expect_accepted(offer.kernel, fmt::format("{}, {}", kernel::name_of(language), offer.action));
    }
  }
}

/// Of each six neighbours in the table one for `make check`, and of those named for their first offer that one alone, in a line
/// or a plane; all for `make check-long`.
std::vector<Case> some_cases() {
  std::vector<Case> some = base::testing::one_of_each(6, cases());
  std::erase_if(some, [](const Case& c) { return c.name.starts_with("runs") && c.name.find("in_space") != std::string::npos; });
  return some;
}
const auto name_of_conv = [](const auto& parameter) { return parameter.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, GpuConv, testing::ValuesIn(some_cases()), name_of_conv);
INSTANTIATE_TEST_SUITE_P(ChannelSlices, GpuConv, testing::Values(of_slices().front()), name_of_conv);
INSTANTIATE_TEST_SUITE_P(LongCases, GpuConv, testing::ValuesIn(cases()), name_of_conv);
INSTANTIATE_TEST_SUITE_P(LongChannelSlices, GpuConv, testing::ValuesIn(of_slices()), name_of_conv);

}  // namespace
}  // namespace hone::pattern::gpu_conv_slow_cases
