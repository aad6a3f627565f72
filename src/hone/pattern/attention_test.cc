// Which graphs are attention, however they were written, and what is said of those that are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/pattern/attention.h"
#include "hone/pattern/gpu_attention.h"
#include "hone/pattern/gpu_offers_testing.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSizes = "B=2,H=4,S=48,T=48,E=32";
const std::vector<std::string> kInputs = {"q=bf16[B,H,S,E]", "k=bf16[B,H,T,E]", "v=bf16[B,H,T,E]"};

Result<Attention> found(const std::string& compute, const std::vector<std::string>& inputs = kInputs) {
  return find_attention(normal_form(task_of(compute, inputs, kSizes)));
}

TEST(Attention, IsFoundHoweverItWasWritten) {
  for (const char* compute : {"y = attention(q, k, v)", "y = softmax(q @ k.mT * 0.25, axis=-1) @ v", "y = softmax(tanh(q @ k.mT) * 30.0, axis=-1) @ v",
                              "y = relu(attention(q, k, v, causal=true)) + q"}) {
    const auto attention = found(compute);
    ASSERT_TRUE(attention) << compute << ": " << attention.error().message;
    EXPECT_EQ(attention->scores->column.extent.to_string(), "T") << compute;
    EXPECT_EQ(attention->scores->depth.extent.to_string(), "E") << compute;
    EXPECT_EQ(attention->values->column.extent.to_string(), "E") << compute;
  }
}

TEST(Attention, OneVectorOfIndicesIsForQueriesAndForKeys) {
  const std::string window = "i = arange(S)\nd = i[:, none] - i[none, :]\ny = softmax(where((d >= 0) & (d < 8), q @ k.mT, -inf), axis=-1) @ v";
  const auto attention = find_attention(normal_form(task_of(window, {"q=bf16[B,S,E]", "k=bf16[B,S,E]", "v=bf16[B,S,E]"}, "B=2,S=48,E=32")));
  EXPECT_TRUE(attention) << attention.error().message;
}

std::string range_of(const std::string& compute, const std::vector<std::string>& inputs = kInputs) {
  const auto attention = found(compute, inputs);
  EXPECT_TRUE(attention) << compute << ": " << attention.error().message;
  if (!attention || !attention->visible) return "all";
  const VisibleKeys& keys = *attention->visible;
  EXPECT_EQ(attention->plain != nullptr, keys.exact) << compute;
  return fmt::format("{} to {}{}", keys.from ? keys.from->to_string() : "", keys.to ? keys.to->to_string() : "", keys.exact ? "" : ", or fewer");
}

TEST(Attention, KnowsWhichKeysAQueryNeverSees) {
  EXPECT_EQ(range_of("y = attention(q, k, v)"), "all");
  EXPECT_EQ(range_of("y = attention(q, k, v, causal=true)"), " to 0");
  const auto masked = [](const std::string& condition) { return "i = arange(S)[:, none]\nj = arange(T)[none, :]\ny = softmax(where(" + condition + ", q @ k.mT, -inf), axis=-1) @ v"; };
  EXPECT_EQ(range_of(masked("i + (T - S) >= j")), " to T - S");
  EXPECT_EQ(range_of(masked("(j <= i) & (i - j < 8)")), "-7 to 0");
  EXPECT_EQ(range_of(masked("j > i")), "1 to ");
  // What is read may hide anything.
  auto inputs = kInputs;
  inputs.emplace_back("m=bool[S,T]");
  EXPECT_EQ(range_of("y = attention(q, k, v, m)", inputs), "all");
  EXPECT_EQ(range_of(masked("(j <= i) & m"), inputs), " to 0, or fewer");
}

TEST(Attention, IsNotWhatOnlyLooksLikeIt) {
  EXPECT_FALSE(found("y = softmax(q @ k.mT, axis=-2) @ v"));          // over the queries
  EXPECT_FALSE(found("y = (q @ k.mT) @ v"));                           // no softmax
  EXPECT_FALSE(found("w = softmax(q @ k.mT, axis=-1)\ny = (w @ v) * sum(w, axis=-1, keepdims=true)"));  // weights used twice
  EXPECT_FALSE(found("y = softmax(q @ k.mT, axis=-1) @ (softmax(q @ k.mT, axis=-1) @ v)"));  // twice
}

TEST(Attention, AGraphsCoreGoesFromOneProductToTheOther) {
  const task::Task task = normal_form(task_of("y = layer_norm(attention(q, k, v, causal=true))", kInputs, kSizes));
  const auto cores = attention_cores(task.primitive);
  ASSERT_EQ(cores.size(), 1U);
  const task::Node& first = task.primitive.node(*cores[0].begin());
  const task::Node& last = task.primitive.node(*cores[0].rbegin());
  EXPECT_EQ(first.prim, task::Prim::kDot);
  // The rounding of the second product's sums belongs to it.
  EXPECT_EQ(last.prim, task::Prim::kCast);
  EXPECT_EQ(task.primitive.node(last.operands[0]).prim, task::Prim::kDot);
}

// Heads brought together behind an attention, or queries scaled before it, leave it one.
TEST(Attention, IsAPartOfWhatSurroundsIt) {
  for (const char* const compute : {"y = transpose(attention(q, k, v), 1, 2).reshape(B, S, H*E)", "y = softmax((q * 0.3) @ k.mT, axis=-1) @ v"}) {
    std::vector<std::string> why;
    const auto all = pattern::offers(task_of(compute, {"q=bf16[B,H,S,E]", "k=bf16[B,H,S,E]", "v=bf16[B,H,S,E]"}, "B=2,H=3,S=512,E=64"), kernel::Language::kCuda, why);
    ASSERT_FALSE(all.empty());
    EXPECT_THAT(all[0].kernel.header.note, HasSubstr("attention in one pass")) << compute;
    EXPECT_THAT(all[0].action, ::testing::Not(HasSubstr("matmul"))) << compute;
  }
}

std::vector<Offer> offers(const std::string& compute, const std::vector<std::string>& inputs, const std::string& sizes, std::vector<std::string>& why_not,
                          kernel::Language language = kernel::Language::kCuda) {
  return gpu_attention_offers(normal_form(task_of(compute, inputs, sizes)), language, why_not);
}

TEST(GpuAttention, SharesTheKeysOfAHeadWhereQueriesAreFew) {
  std::vector<std::string> why;
  EXPECT_THAT(actions(offers("y = attention(q, k, v)", kInputs, kSizes, why)), ElementsAre("one pass over the keys"));
  EXPECT_THAT(actions(offers("y = attention(q, k, v)", kInputs, "B=2,H=4,S=1,T=48,E=32", why)),
              ElementsAre("one pass over the keys, shared between blocks", "one pass over the keys"));
  EXPECT_THAT(why, IsEmpty());
}

TEST(GpuAttention, SaysWhyNot) {
  std::vector<std::string> why;
  EXPECT_THAT(offers("y = attention(q, k, v)", {"q=f64[B,H,S,E]", "k=f64[B,H,T,E]", "v=f64[B,H,T,E]"}, kSizes, why), IsEmpty());
  EXPECT_THAT(offers("y = attention(q, k, v)", kInputs, "B=1,H=1,S=16,T=16,E=512", why), IsEmpty());
  EXPECT_THAT(offers("y = attention(q, k, v)", kInputs, kSizes, why, kernel::Language::kHip), IsEmpty());
  EXPECT_THAT(why, ElementsAre(HasSubstr("of one type, 16 bits or fp32"), HasSubstr("heads of up to 256"), HasSubstr("CUDA only")));
}

}  // namespace
}  // namespace hone::pattern
