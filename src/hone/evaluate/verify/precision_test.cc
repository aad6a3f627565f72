// What the gate accepts and refuses on the strict track, over all families: fp32 in another order of
// summation passes; operands rounded to TF32, bf16 or f16 do not, at any length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/bounds.h"

namespace hone::evaluate::precision_cases {
namespace {

using testing::Case;

/// A program and, by input, the axis whose elements may be permuted together without changing the
/// result (-1: none).
struct Program {
  std::string compute;
  std::vector<std::string> inputs;
  std::vector<int> summed;
};

const std::vector<Program>& contractions() {
  static const std::vector<Program> all{
      {"y = x @ w", {"x=f32[24,64]", "w=f32[64,40]"}, {1, 0}},
      {"y = x @ w", {"x=f32[9,4096]", "w=f32[4096,17]"}, {1, 0}},
      {"y = x @ w", {"x=f32[4,60000]", "w=f32[60000,5]"}, {1, 0}},
      {"y = x @ w", {"x=f32[300,900]", "w=f32[900]"}, {1, 0}},
      {"y = bmm(x, w)", {"x=f32[3,20,100]", "w=f32[3,100,30]"}, {2, 1}},
      {"y = gelu(linear(x, w, b))", {"x=f32[20,256]", "w=f32[48,256]", "b=f32[48]"}, {1, 1, -1}},
      {"y = layer_norm(x @ w)", {"x=f32[20,256]", "w=f32[256,48]"}, {1, 0}},
      {"y = softmax(x @ w, axis=-1)", {"x=f32[20,128]", "w=f32[128,48]"}, {1, 0}},
      {"y = conv2d(x, w, padding=1)", {"x=f32[2,32,9,10]", "w=f32[16,32,3,3]"}, {1, 1}},
      {"y = relu(conv1d(x, w, b, stride=2))", {"x=f32[2,64,50]", "w=f32[8,64,5]", "b=f32[8]"}, {1, 1, -1}},
      {"y = conv_transpose2d(x, w, stride=2)", {"x=f32[1,48,6,6]", "w=f32[48,8,3,3]"}, {1, 0}},
      {"y = attention(q, k, v)", {"q=f32[2,2,33,32]", "k=f32[2,2,40,32]", "v=f32[2,2,40,32]"}, {-1, 2, 2}},
      {"y = sum((x @ w) * u)", {"x=f32[24,64]", "w=f32[64,40]", "u=f32[24,40]"}, {1, 0, -1}},
  };
  return all;
}

const std::vector<Program>& sums() {
  static const std::vector<Program> all{
      {"y = sum(x, axis=1)", {"x=f32[30,5000]"}, {1}},
      {"y = mean(x, axis=0)", {"x=f32[5000,30]"}, {0}},
      {"y = softmax(x, axis=-1)", {"x=f32[20,3000]"}, {-1}},
      {"y = layer_norm(x, w)", {"x=f32[30,1000]", "w=f32[1000]"}, {-1, -1}},
      {"y = sqrt(sum(x * x))", {"x=f32[100,300]"}, {0}},
      {"y = logsumexp(x, axis=1)", {"x=f32[30,1000]"}, {1}},
      {"y = var(x, axis=1)", {"x=f32[30,1000]"}, {1}},
      {"y = mean((x - t) * (x - t))", {"x=f32[64,100]", "t=f32[64,100]"}, {0, 0}},
      {"y = cumsum(x, axis=1)", {"x=f32[10,2000]"}, {-1}},
      {"y = avg_pool2d(x, 5, stride=2)", {"x=f32[2,3,30,30]"}, {-1}},
      {"y = batch_norm(x, w, b)", {"x=f32[16,8,20]", "w=f32[8]", "b=f32[8]"}, {-1, -1, -1}},
  };
  return all;
}

/// Permutes elements along the summed axes, alike in every input.
void shuffle(Case& c, const Program& program, uint64_t seed) {
  for (size_t i = 0; i < program.summed.size(); ++i) {
    if (program.summed[i] < 0) continue;
    const auto axis = static_cast<size_t>(program.summed[i]);
    const task::Shape& shape = c.shape(i);
    const auto length = static_cast<size_t>(shape[axis]);
    std::vector<size_t> order(length);
    std::iota(order.begin(), order.end(), size_t{0});
    base::Rng rng(seed);
    for (size_t k = length; k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
    size_t inner = 1;
    for (size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<size_t>(shape[d]);
    const auto count = static_cast<size_t>(task::element_count(shape));
    std::vector<double> from(count), to(count);
    load_doubles(c.task.inputs[i].type.dtype, c.data[i].data(), 0, static_cast<int64_t>(count), from.data());
    for (size_t e = 0; e < count; ++e) {
      const size_t at = e / inner % length;
      to[e] = from[e - at * inner + order[at] * inner];
    }
    c.set(i, to);
  }
}

/// The first family that refuses the answer `candidate` gives after `change` to the inputs.
template <class Change>
std::optional<std::string> judged(const Program& program, Arithmetic candidate, uint64_t seed, Change change) {
  Case c(program.compute, program.inputs);
  Bounds bounds(c.task, c.graph, seed, 1);
  for (const Family family : kAllFamilies) {
    c.draw_all(family, seed);
    const Box all = whole(c.output_shape());
    Reference reference;
    {
      const Oracle oracle = c.oracle();
      reference = make_reference(c.graph, oracle, task::Track::kStrict, 0, {all}, 1);
    }
    change(c);
    const Answer answer = c.oracle().evaluate(0, all, candidate, false);
    std::vector<float> out(answer.value.begin(), answer.value.end());
    const OutputError error = compare_output(c.graph, 0, reference, out.data(), 1);
    const Bound bound = bounds.of(0, family, reference.anchor);
    if (auto why = judge(error, bound, "y")) return std::string(name_of(family)) + ": " + *why;
  }
  return std::nullopt;
}

TEST(Precision, fp32_in_another_order_passes) {
  for (const auto* programs : {&contractions(), &sums()})
    for (const Program& program : *programs)
      for (uint64_t seed = 1; seed <= 2; ++seed)
        EXPECT_EQ(judged(program, Arithmetic::kF32, seed,
                         [&](Case& c) { shuffle(c, program, seed); }),
                  std::nullopt)
            << program.compute;
}

TEST(Precision, reduced_operands_are_refused_at_any_length) {
  for (const Program& program : contractions())
    for (const Arithmetic arithmetic : {Arithmetic::kTf32, Arithmetic::kBf16, Arithmetic::kF16})
      EXPECT_NE(judged(program, arithmetic, 1, [](Case&) {}), std::nullopt)
          << program.compute << " " << static_cast<int>(arithmetic);
}

TEST(Precision, inputs_rounded_to_sixteen_bits_are_refused) {
  for (const Program& program : sums())
    for (const task::DType type : {task::DType::kBF16, task::DType::kF16})
      EXPECT_NE(judged(program, Arithmetic::kF32, 1,
                       [&](Case& c) {
                         for (size_t i = 0; i < c.data.size(); ++i) {
                           const int64_t count = task::element_count(c.shape(i));
                           std::vector<double> v(static_cast<size_t>(count));
                           load_doubles(task::DType::kF32, c.data[i].data(), 0, count, v.data());
                           for (double& e : v) e = std::clamp(round_to(type, e), -65504.0, 65504.0);
                           c.set(i, v);
                         }
                       }),
                std::nullopt)
          << program.compute << " " << task::name_of(type);
}

TEST(Precision, each_track_accepts_its_own_arithmetic_and_nothing_coarser) {
  const Program program{"y = x @ w", {"x=f32[24,512]", "w=f32[512,40]"}, {1, 0}};
  Case c(program.compute, program.inputs);
  const auto passes = [&](task::Track track, Arithmetic arithmetic) {
    c.task.track = track;
    Bounds bounds(c.task, c.graph, 5, 1);
    for (const Family family : kAllFamilies) {
      c.draw_all(family, 5);
      const Oracle oracle = c.oracle();
      const Reference reference = make_reference(c.graph, oracle, track, 0, {whole(c.output_shape())}, 1);
      const Answer answer = oracle.evaluate(0, whole(c.output_shape()), arithmetic, false);
      std::vector<float> out(answer.value.begin(), answer.value.end());
      const OutputError error = compare_output(c.graph, 0, reference, out.data(), 1);
      if (judge(error, bounds.of(0, family, reference.anchor), "y")) return false;
    }
    return true;
  };
  EXPECT_TRUE(passes(task::Track::kTf32, Arithmetic::kTf32));
  EXPECT_TRUE(passes(task::Track::kTf32, Arithmetic::kF32));
  EXPECT_FALSE(passes(task::Track::kTf32, Arithmetic::kBf16));
  EXPECT_TRUE(passes(task::Track::kBf16, Arithmetic::kBf16));
  EXPECT_TRUE(passes(task::Track::kBf16, Arithmetic::kTf32));
  EXPECT_FALSE(passes(task::Track::kAsPytorch, Arithmetic::kTf32));
}

TEST(Precision, as_pytorch_allows_tf32_in_convolutions_alone) {
  Case c("y = conv2d(x, w)", {"x=f32[1,16,8,8]", "w=f32[8,16,3,3]"});
  c.draw_all(Family::kNormal, 1);
  const Box all = whole(c.output_shape());
  const auto as_pytorch = c.oracle().evaluate(0, all, Arithmetic::kAsPytorch, false).value;
  EXPECT_NE(as_pytorch, c.oracle().evaluate(0, all, Arithmetic::kF32, false).value);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t count = task::element_count(c.shape(i));
    std::vector<double> v(static_cast<size_t>(count));
    load_doubles(task::DType::kF32, c.data[i].data(), 0, count, v.data());
    for (double& e : v) e = round_bits(e, 11, -126);
    c.set(i, v);
  }
  EXPECT_EQ(as_pytorch, c.oracle().evaluate(0, all, Arithmetic::kF32, false).value);
}

}  // namespace
}  // namespace hone::evaluate::precision_cases
