#include "hone/pattern/partition.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/pattern/compose.h"
#include "hone/pattern/contraction.h"
#include "hone/pattern/library.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern::partition_cases {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

task::Task task_of(const char* compute, const std::vector<std::string>& inputs, const char* workload) {
  auto task = task::task_from_expressions(compute, inputs, {workload});
  if (!task) throw std::runtime_error(task.error().to_string());
  return *task;
}

bool one_product_or_none(const task::Task& task) {
  const auto& nodes = task.primitive.nodes;
  return std::none_of(nodes.begin(), nodes.end(), [](const task::Node& node) { return node.prim == task::Prim::kDot; }) ||
         find_contraction(task).has_value();
}

std::vector<std::string> outputs_of(const Partition& partition) {
  std::vector<std::string> all;
  for (const Part& part : partition.parts)
    for (const auto& [name, type] : part.task.outputs) all.push_back(name);
  return all;
}

TEST(Partition, ComesInAnOrderInWhichEverythingIsThere) {
  const task::Task task = task_of("y = softmax(q @ transpose(k, 0, 1)) @ v", {"q=f32[B,D]", "k=f32[N,D]", "v=f32[N,D]"}, "B=4,D=8,N=5");
  const Partition parts = partition(task, one_product_or_none);
  ASSERT_EQ(parts.parts.size(), 3U);
  ASSERT_EQ(parts.between.size(), 2U);
  EXPECT_THAT(outputs_of(parts), ElementsAre(parts.between[0].first, parts.between[1].first, "y"));
  EXPECT_EQ(parts.between[0].second.to_string(), "f32[B, N]");
  // The last part reads what the one before it left.
  EXPECT_EQ(parts.parts[2].task.inputs.size(), 2U);
}

TEST(Partition, WhatOnePatternCoversStaysWhole) {
  const task::Task task = task_of("y = relu(x @ w + b) * 2.0", {"x=f32[B,D]", "w=f32[D,N]", "b=f32[N]"}, "B=4,D=8,N=5");
  EXPECT_EQ(partition(task, one_product_or_none).parts.size(), 1U);
}

TEST(Partition, NothingCoveredMeansOperationsAlone) {
  const task::Task task = task_of("y = exp(x) + sum(x)", {"x=f32[B]"}, "B=4");
  const Partition parts = partition(task, [](const task::Task&) { return false; });
  EXPECT_EQ(parts.parts.size(), 3U);   // exp, sum, add; views and constants go along
}

TEST(Partition, OutputsThatNothingConnectsAreParts) {
  const task::Task task = task_of("y = -x\nz = exp(w)", {"x=f32[B]", "w=f32[D]"}, "B=4,D=3");
  const Partition parts = partition(task, [](const task::Task&) { return true; });
  EXPECT_EQ(parts.parts.size(), 2U);
  EXPECT_THAT(parts.between, IsEmpty());
}

// Neither cast alone makes the product one of bytes.
TEST(Partition, BothFactorsCastsGoIntoTheirProduct) {
  const task::Task task = task_of("y = sum(relu(f32(i32(x) @ i32(w).T)), axis=1)", {"x=i8[B,D]", "w=i8[C,D]"}, "B=4,C=5,D=3");
  const Partition parts = partition(task, [](const task::Task& part) {
    const auto found = find_contraction(part);
    return found.has_value() || std::ranges::none_of(part.primitive.nodes, [](const task::Node& node) { return node.prim == task::Prim::kDot; });
  });
  ASSERT_EQ(parts.parts.size(), 2U);
  EXPECT_THAT(parts.parts[0].task.inputs, ::testing::SizeIs(2));
  EXPECT_EQ(parts.parts[0].task.inputs[0].type.dtype, task::DType::kI8);
}

// Bytes that somebody makes are what is handed on, not the wider numbers that the product takes them as.
TEST(Partition, BytesThatAreMadeAreHandedOnAsBytes) {
  const task::Task task = task_of("y = f32(i32(i8(clamp(round(x), -127.0, 127.0))) @ i32(w).T)", {"x=f32[B,D]", "w=i8[C,D]"}, "B=4,C=5,D=3");
  const Partition parts = partition(task, [](const task::Task& part) {
    const auto& nodes = part.primitive.nodes;
    if (std::ranges::none_of(nodes, [](const task::Node& node) { return node.prim == task::Prim::kDot; })) return true;
    return find_contraction(part) && std::ranges::all_of(part.inputs, [](const task::InputSpec& input) { return input.type.dtype == task::DType::kI8; });
  });
  ASSERT_EQ(parts.parts.size(), 2U);
  EXPECT_THAT(parts.between, ::testing::SizeIs(1));
}

TEST(Contraction, SortsLettersByRole) {
  const task::Task task = task_of("y = einsum('bik,bkj->bij', x, w) + c", {"x=f32[B,I,K]", "w=bf16[B,K,J]", "c=f32[J]"}, "B=2,I=3,K=4,J=5");
  const auto found = find_contraction(task);
  ASSERT_TRUE(found.has_value()) << found.error().to_string();
  const Contraction& c = **found;
  EXPECT_EQ(c.batch.extent.to_string(), "B");
  EXPECT_EQ(c.row.extent.to_string(), "I");
  EXPECT_EQ(c.column.extent.to_string(), "J");
  EXPECT_EQ(c.depth.extent.to_string(), "K");
  EXPECT_EQ(c.b.stride(c.depth.letters[0]).to_string(), "J");
}

TEST(Contraction, ColumnsAreWhatIsContiguousInTheResult) {
  const task::Task task = task_of("y = einsum('ik,kj->ji', x, w)", {"x=f32[I,K]", "w=f32[K,J]"}, "I=3,K=4,J=5");
  const auto found = find_contraction(task);
  ASSERT_TRUE(found.has_value()) << found.error().to_string();
  EXPECT_EQ((*found)->column.extent.to_string(), "I");
  EXPECT_EQ((*found)->row.extent.to_string(), "J");
}

TEST(Contraction, SaysWhatIsInTheWay) {
  const auto why = [](const char* compute) {
    const auto found = find_contraction(task_of(compute, {"x=f32[B,D]", "w=f32[D,B]"}, "B=2,D=3"));
    return found ? std::string() : found.error().message;
  };
  EXPECT_EQ(why("y = -x + sum(w)"), "no product");
  EXPECT_EQ(why("y = exp(x) @ w"), "a factor is computed, not read");
  EXPECT_EQ(why("y = sum(x @ w)"), "a reduction beside the product");
  EXPECT_EQ(why("y = x @ w @ x"), "more than one product");
}

int count(const task::Task& task, task::Prim op) {
  return static_cast<int>(std::count_if(task.primitive.nodes.begin(), task.primitive.nodes.end(),
                                        [&](const task::Node& node) { return node.prim == op; }));
}

TEST(NormalForm, SeesThroughFlipsAroundScans) {
  const task::Task turned = normal_form(task_of("y = flip(cumsum(flip(x, axis=[1]), axis=1), axis=[1])", {"x=f32[B,D]"}, "B=2,D=3"));
  EXPECT_EQ(count(turned, task::Prim::kFlip), 0);
  EXPECT_EQ(count(turned, task::Prim::kCumSum), 1);
  EXPECT_TRUE(turned.primitive.node(turned.primitive.outputs[0]).attr<bool>("reverse"));
  // Flipped along another axis each row is the same scan, in another place.
  const task::Task other = normal_form(task_of("y = flip(cumsum(flip(x, axis=[0]), axis=1), axis=[0])", {"x=f32[B,D]"}, "B=2,D=3"));
  EXPECT_EQ(count(other, task::Prim::kFlip), 0);
  EXPECT_FALSE(other.primitive.node(other.primitive.outputs[0]).attr<bool>("reverse"));
}

TEST(NormalForm, TakesPartsOfWhatIsJoinedWhereTheyComeFrom) {
  const auto joins = [](const std::string& compute, const std::vector<std::string>& inputs) {
    const task::Task normal = normal_form(task_of(compute.c_str(), inputs, "B=5,D=7"));
    return std::pair(count(normal, task::Prim::kConcat) + count(normal, task::Prim::kPad), count(normal, task::Prim::kSlice));
  };
  const std::vector<std::string> x = {"x=f32[B,D]"};
  // The inside of a stencil meets no edge.
  EXPECT_EQ(joins("y = (roll(x, 1, 1) + roll(x, -1, 1) - 2.0 * x * c)[:, 1:-1]", {"x=f32[B,D]", "c=f32[D]"}), std::pair(0, 4));
  EXPECT_EQ(joins("y = (pad(x, [1, 1], [1, 1]) * 2.0)[1:-1, 2:-1]", x), std::pair(0, 1));
  EXPECT_EQ(joins("y = exp(concat([x, -x], axis=1))[:, D:]", x), std::pair(0, 0));
  // All of it, what somebody else uses, what lies across an edge, or may, and steps stay.
  EXPECT_EQ(joins("y = (roll(x, 1, 1) + x)[1:, :]", x).first, 1);
  EXPECT_EQ(joins("h = roll(x, 1, 1) * 2.0; y = h[:, 1:]; z = sum(h, axis=1)", x).first, 1);
  EXPECT_EQ(joins("y = exp(concat([x, -x], axis=1))[:, 3:3 + D]", x).first, 1);
  EXPECT_EQ(joins("y = exp(concat([x, -x], axis=1))[:, :5]", x).first, 1);
  EXPECT_EQ(joins("y = exp(concat([x, -x], axis=1))[:, D::2]", x).first, 1);
}

/// What a graph's flips turn round, each with what it is applied to.
std::vector<std::string> flips_of(const char* compute, const std::vector<std::string>& inputs) {
  const task::Task task = normal_form(task_of(compute, inputs, "A=2,B=4,D=6"));
  std::vector<std::string> all;
  for (const task::Node& node : task.primitive.nodes) {
    if (node.prim != task::Prim::kFlip) continue;
    std::string text(task::name_of(task.primitive.node(node.operands[0]).prim));
    for (const int64_t axis : node.attr<std::vector<int64_t>>("axes")) text += " " + std::to_string(axis);
    all.push_back(text);
  }
  return all;
}

TEST(NormalForm, FlipsInputsBeforeItComputes) {
  using All = std::vector<std::string>;
  const std::string x = "x=f32[A,B,D]", w = "w=f32[A,B,2*D]", r = "r=f32[B,1]", c = "c=f32[D]";
  // What is the same all along the axis stays as it is.
  EXPECT_EQ(flips_of("y = flip((x - c) * r, axis=[1])", {x, r, c}), (All{"input 1", "input 0"}));
  EXPECT_EQ(flips_of("y = flip(flip(x * 2.0, axis=[1, 2]) + 1.0, axis=[2])", {x}), (All{"input 1"}));
  EXPECT_EQ(flips_of("y = flip(exp(x).mT, axis=[1])", {x}), (All{"input 2"}));
  EXPECT_EQ(flips_of("y = flip(exp(x[:, 1:, ::2]), axis=[2])", {x}), (All{"slice 2"}));
  // An axis that is taken apart, or put together of others, is turned round as a whole.
  EXPECT_EQ(flips_of("y = flip(exp(x).reshape(A, B * D), axis=[1])", {x}), (All{"input 1 2"}));
  EXPECT_EQ(flips_of("y = flip(exp(w).reshape(A, B, 2, D), axis=[2, 3])", {w}), (All{"input 2"}));
  EXPECT_EQ(flips_of("y = flip(exp(w).reshape(A, B, 2, D), axis=[3])", {w}), (All{"reshape 3"}));
  EXPECT_EQ(flips_of("y = flip(concat([x * r, x * c], axis=1), axis=[1])", {x, r, c}), (All{"input 1", "input 0"}));
  // Softmax needs its row in both orders if it is turned round first.
  EXPECT_EQ(flips_of("y = flip(softmax(x, axis=-1), axis=[2])", {x}).size(), 1U);
}

TEST(NormalForm, SlicesGoBeforeViews) {
  const auto first = [](const char* compute) {
    const task::Task task = normal_form(task_of(compute, {"x=f32[B,S,3*H*E]"}, "B=2,S=3,H=4,E=5"));
    const task::Node& node = task.primitive.nodes[1];
    return node.prim == task::Prim::kSlice ? fmt::format("{} from {}", node.type.to_string(), fmt::join(node.attr<task::Dims>("start") | std::views::transform([](const auto& e) { return e.to_string(); }), ", "))
                                           : std::string("none");
  };
  EXPECT_EQ(first("y = x.reshape(B, S, 3, H, E).permute([2, 0, 3, 1, 4])[1] * 2"), "f32[B, S, E*H] from 0, 0, E*H");
  EXPECT_EQ(first("y = x.reshape(B, S, 3, H, E)[:, :, 1:] * 2"), "f32[B, S, 2*E*H] from 0, 0, E*H");
  // No segment: some of each head.
  EXPECT_EQ(first("y = x.reshape(B, S, 3, H, E)[:, :, :, :, 1:3] * 2"), "none");
}

TEST(NormalForm, MatrixTimesVectorIsASum) {
  const task::Task task = normal_form(task_of("y = a @ x", {"a=f32[B,D]", "x=f32[D]"}, "B=2,D=3"));
  EXPECT_EQ(count(task, task::Prim::kDot), 0);
  EXPECT_EQ(count(task, task::Prim::kSum), 1);
}

TEST(NormalForm, AnAxisOfOneElementMakesNoColumns) {
  EXPECT_EQ(count(normal_form(task_of("y = a @ x", {"a=f32[B,D]", "x=f32[D,1]"}, "B=2,D=3")), task::Prim::kDot), 0);
  EXPECT_EQ(count(normal_form(task_of("y = a @ x", {"a=f32[B,D]", "x=f32[D,2]"}, "B=2,D=3")), task::Prim::kDot), 1);
}

TEST(NormalForm, PointwiseConvolutionIsAProductOfEachImage) {
  const auto conv = [](const char* compute, const char* weights) {
    return normal_form(task_of(compute, {"x=f32[N,C,H,W]", weights}, "N=2,C=3,H=4,W=5,O=6"));
  };
  const task::Task product = conv("y = conv2d(x, w)", "w=f32[O,C,1,1]");
  EXPECT_EQ(count(product, task::Prim::kConv), 0);
  const auto found = find_contraction(product);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ((*found)->batch.extent.to_string(), "N");
  EXPECT_EQ((*found)->row.extent.to_string(), "O");
  EXPECT_EQ((*found)->depth.extent.to_string(), "C");
  EXPECT_EQ((*found)->column.letters.size(), 2U);   // both directions of the image, one segment
  // The weights are the same for all images, and packed once.
  EXPECT_FALSE((*found)->a.has((*found)->batch));
  EXPECT_TRUE((*found)->b.has((*found)->batch));
  EXPECT_EQ(count(conv("y = conv2d(x, w, stride=2)", "w=f32[O,C,1,1]"), task::Prim::kConv), 1);
  EXPECT_EQ(count(conv("y = conv2d(x, w, padding=1)", "w=f32[O,C,1,1]"), task::Prim::kConv), 1);
  EXPECT_EQ(count(conv("y = conv2d(x, w)", "w=f32[O,C,1,3]"), task::Prim::kConv), 1);
}

TEST(NormalForm, PicksBeforeItComputes) {
  const std::vector<std::string> inputs = {"x=f32[B,D]", "t=i64[B,1]"};
  const task::Task task = normal_form(task_of("y = take_along_axis(log_softmax(x), t, axis=1)", inputs, "B=2,D=3"));
  for (const task::Node& node : task.primitive.nodes)
    EXPECT_TRUE(node.prim != task::Prim::kTakeAlongAxis || task.primitive.node(node.operands[0]).prim == task::Prim::kInput);
  EXPECT_EQ(task.primitive.node(task.primitive.outputs[0]).type.to_string(), "f32[B, 1]");
  // A row that is broadcast to all is not picked from by an index of theirs.
  const task::Task broadcast = normal_form(task_of("y = take_along_axis(x + w, t, axis=1)", {"x=f32[B,D]", "w=f32[1,D]", "t=i64[B,1]"}, "B=2,D=3"));
  // The output itself is a view of what was picked: a tensor of its own.
  const auto seen_by_output = [](const task::Graph& graph) {
    const task::Node& output = graph.node(graph.outputs[0]);
    EXPECT_EQ(output.prim, task::Prim::kReshape);
    return graph.node(output.operands[0]).prim;
  };
  EXPECT_EQ(seen_by_output(broadcast.primitive), task::Prim::kTakeAlongAxis);
  // What is not the same along the axis and no element-wise work either has to be there before.
  const task::Task sorted = normal_form(task_of("y = take_along_axis(exp(cumsum(x, axis=1)), t, axis=1)", inputs, "B=2,D=3"));
  EXPECT_EQ(seen_by_output(sorted.primitive), task::Prim::kTakeAlongAxis);
}

TEST(Nest, IndicesAreFollowedByTheRowOrByTheElement) {
  const auto pattern_of = [](const char* compute, const std::vector<std::string>& inputs) {
    std::vector<std::string> why_not;
    const auto offers = offers_cpp(task_of(compute, inputs, "B=2,D=3"), why_not);
    return offers.empty() ? std::string("none") : offers[0].pattern;
  };
  EXPECT_EQ(pattern_of("y = embedding(t, w) * 2.0", {"t=i64[B]", "w=f32[7,D]"}), "map");
  EXPECT_EQ(pattern_of("y = logsumexp(x, axis=1) - take_along_axis(x, t.reshape(B, 1), axis=1).reshape(B)", {"x=f32[B,D]", "t=i64[B]"}), "rows");
  EXPECT_EQ(pattern_of("y = take_along_axis(x, t, axis=1) + 1.0", {"x=f32[B,D]", "t=i64[B,D]"}), "map");
  // An index that is known only behind a loop over the row is not there when the loop reads.
  EXPECT_NE(pattern_of("y = take_along_axis(x, i64(sum(t, axis=1, keepdims=true)) % D, axis=1)", {"x=f32[B,D]", "t=i64[B,D]"}), "map");
}

TEST(Compose, PartsKeepTheirNamesApart) {
  const task::Task task = task_of("y = softmax(x @ w)", {"x=f32[B,D]", "w=f32[D,N]"}, "B=4,D=8,N=5");
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(task, why_not);
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers[0].pattern, "parts");
  const std::string& source = offers[0].kernel.source;
  EXPECT_THAT(source, HasSubstr("namespace part_1"));
  EXPECT_THAT(source, HasSubstr("namespace part_2"));
  EXPECT_THAT(source, HasSubstr("packed_a_1 = "));
  ASSERT_EQ(offers[0].kernel.header.launches.size(), 4U);   // two packings, the product, the rows
  EXPECT_EQ(offers[0].kernel.header.launches[3].function, "part_2::rows");
}

}  // namespace
}  // namespace hone::pattern::partition_cases
