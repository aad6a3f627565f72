// Attention's kernels on the emulator of CUDA, at sizes that fill no tile: forms of masks and heads, and how warps share the work.
#include <algorithm>

#include <gtest/gtest.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_attention.h"
#include "hone/pattern/judge_testing.h"
#include "hone/pattern/names.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern::gpu_attention_slow_cases {
namespace {

struct Given {
  const char* name;
  const char* compute;
  std::vector<std::string> inputs;
  std::vector<std::string> sizes;
};
void PrintTo(const Given& given, std::ostream* out) { *out << given.name; }

class GpuAttention : public testing::TestWithParam<Given> {};

TEST_P(GpuAttention, IsAcceptedHoweverTheWorkIsShared) {
  const auto task = task::task_from_expressions(GetParam().compute, GetParam().inputs, GetParam().sizes);
  ASSERT_TRUE(task) << task.error().to_string();
  auto simt = target::simt_toolchain();
  if (!simt) GTEST_SKIP() << simt.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*simt);
  const auto judge = judge_testing::Judge::create(*task, toolchain);
  ASSERT_TRUE(judge) << judge.error().to_string();
  std::vector<std::string> why_not;
  const Names names(*task);
  const std::vector<Offer> offers = names.given(gpu_attention_offers(normal_form(names.task()), kernel::Language::kCuda, why_not));
  ASSERT_FALSE(offers.empty()) << (why_not.empty() ? "" : why_not[0]);
  int judged = 0;
  // PARTS is 2: with one part a weight is rounded before it is known what to divide by, which passes at most inputs, not at all.
  const kernel::Config choices[] = {{{"PARTS", 2}}, {{"PARTS", 2}, {"ROW_WARPS", 2}, {"KEY_WARPS", 2}, {"KEYS", 32}, {"STAGES", 3}, {"GROUPS", 1}}};
  // Each offer with each choice; in `make check` the first that is judged, in the next form from another offer and choice on.
  const bool all = base::testing::in_long_part();
  for (size_t n = 0; n < 2 * offers.size() && (all || judged == 0); ++n) {
    const size_t item = (n + (all ? 0 : base::testing::turn())) % (2 * offers.size());
    const Offer& offer = offers[item % offers.size()];
    const kernel::Config& choice = choices[(item % offers.size() + item / offers.size()) % 2];
    kernel::Kernel kernel = offer.kernel;
    for (const auto& tunable : kernel.header.tunables) {
      const auto wanted = choice.find(tunable.name);
      if (wanted != choice.end() && std::find(tunable.values.begin(), tunable.values.end(), wanted->second) != tunable.values.end())
        kernel.config[tunable.name] = wanted->second;
    }
    const auto verdict = judge->verdict_of(kernel);
    ASSERT_TRUE(verdict) << verdict.error().to_string();
    // The copy engine wants rows of 16 bytes; what says so is not judged here, and something always is.
    if (verdict->kind == evaluate::VerdictKind::kDoesNotApply) continue;
    ++judged;
    EXPECT_TRUE(verdict->accepted()) << offer.action << ": " << evaluate::name_of(verdict->kind) << ": " << verdict->reason << "\n"
                                     << verdict->detail << "\n" << kernel::with_config(kernel, kernel.config);
  }
  EXPECT_GT(judged, 0);
}

const std::vector<std::string> kHeads = {"q=bf16[B,H,S,E]", "k=bf16[B,H,T,E]", "v=bf16[B,H,T,E]"};
const auto name_of = [](const auto& parameter) { return std::string(parameter.param.name); };
// A verdict takes the emulator a minute: groups of queries, one query with the keys shared out, and values across, for all others.
const std::vector<Given> kForms = {
    Given{"causal_of_groups", "y = attention(q, k, v, causal=true, enable_gqa=true)", {"q=f16[B,G*H,S,E]", "k=f16[B,G,S,E]", "v=f16[B,G,S,E]"},
          {"B=1,H=2,G=2,S=37,E=40", "B=2,H=2,G=1,S=16,E=16"}},
    Given{"one_query", "y = attention(q, k, v)", kHeads, {"B=2,H=3,S=1,T=301,E=24"}},
    Given{"heads_brought_together", "y = transpose(attention(q, k, v), 1, 2).reshape(B, S, H*E)", kHeads, {"B=2,H=3,S=37,T=45,E=16"}},
    Given{"groups_of_values_across", "y = softmax(q @ k * 0.2, axis=-1) @ v.mT", {"q=bf16[B,S,E]", "k=bf16[B,E,T]", "v=bf16[B,E,T]"}, {"B=1,S=66,T=136,E=24"}}};
INSTANTIATE_TEST_SUITE_P(Forms, GpuAttention, testing::Values(kForms[2]), name_of);
INSTANTIATE_TEST_SUITE_P(LongAllOfForms, GpuAttention, testing::ValuesIn(kForms), name_of);
INSTANTIATE_TEST_SUITE_P(
    LongForms, GpuAttention,
    testing::Values(Given{"floats", "y = attention(q, k, v)", {"q=f32[B,H,S,E]", "k=f32[B,H,T,E]", "v=f32[B,H,T,E]"}, {"B=1,H=2,S=37,T=150,E=64", "B=2,H=1,S=65,T=45,E=21"}},
                    Given{"floats_with_a_window_and_wide_heads",
                          "a = where((arange(S) <= arange(S).unsqueeze(1)) & (arange(S) > arange(S).unsqueeze(1) - 7), q @ k.mT * 0.125, -30000.0)\ny = softmax(a, axis=-1) @ v",
                          {"q=f32[B,S,E]", "k=f32[B,S,E]", "v=f32[B,S,E]"}, {"B=2,S=70,E=100"}},
                    Given{"one_query_of_floats", "y = attention(q, k, v)", {"q=f32[B,H,S,E]", "k=f32[B,H,T,E]", "v=f32[B,H,T,E]"}, {"B=2,H=3,S=1,T=301,E=24"}},
                    Given{"odd_heads", "y = attention(q, k, v)", kHeads, {"B=1,H=2,S=19,T=45,E=21"}},
                    Given{"with_a_bias", "y = softmax(q @ k.mT * 0.2 + m, axis=-1) @ v", {kHeads[0], kHeads[1], kHeads[2], "m=bf16[H,S,T]"}, {"B=2,H=2,S=33,T=50,E=16"}},
                    Given{"padded", "y = attention(q, k, v, m)", {kHeads[0], kHeads[1], kHeads[2], "m=bool[S,T]"}, {"B=1,H=2,S=20,T=36,E=32"}},
                    Given{"groups_causal", "y = attention(q, k, v, causal=true, enable_gqa=true)", {"q=f16[B,G*H,S,E]", "k=f16[B,G,S,E]", "v=f16[B,G,S,E]"},
                          {"B=1,H=1,G=2,S=70,E=40"}},
                    Given{"groups_of_a_window", "i = arange(S)[:, none]\nj = arange(T)[none, :]\ny = softmax(where((j <= i + 3) & (j > i - 40), q @ k.mT, -inf), axis=-1) @ v",
                          kHeads, {"B=1,H=1,S=75,T=75,E=40"}},
                    Given{"and_then", "y = gelu(attention(q, k, v, causal=true)) + q", kHeads, {"B=1,H=2,S=40,T=40,E=32"}}), name_of);

}  // namespace
}  // namespace hone::pattern::gpu_attention_slow_cases
