#include "hone/task/graph/op_table.h"

#include <gtest/gtest.h>

namespace hone::task {
namespace {

TEST(OpTable, EveryRowIsWhole) {
  EXPECT_GT(op_table().size(), 150U);
  for (const auto& [name, op] : op_table()) {
    EXPECT_EQ(op.name, name);
    EXPECT_NE(op.infer, nullptr) << name;
    EXPECT_NE(op.lower, nullptr) << name;
    EXPECT_FALSE(op.doc.empty()) << name;
    EXPECT_EQ(op.doc.back(), '.') << name;
    EXPECT_FALSE(op.params.empty()) << name;
    for (const std::string& alias : op.aliases) EXPECT_EQ(find_op(alias), &op) << alias;
  }
}

TEST(OpTable, SignaturesAreRead) {
  const Op* op = find_op("conv2d");
  ASSERT_NE(op, nullptr);
  ASSERT_EQ(op->params.size(), 7U);
  EXPECT_EQ(op->params[0].kind, ParamKind::kTensor);
  EXPECT_FALSE(op->params[1].optional);
  EXPECT_TRUE(op->params[2].optional);
  EXPECT_FALSE(op->params[2].fallback.has_value());
  EXPECT_EQ(op->params[3].kind, ParamKind::kInts);
  EXPECT_EQ(std::get<std::vector<int64_t>>(*op->params[3].fallback), std::vector<int64_t>{1});
  EXPECT_EQ(find_op("scaled_dot_product_attention"), find_op("attention"));
  EXPECT_EQ(find_op("nothing"), nullptr);
}

TEST(OpTable, OperandsAreFoundByName) {
  const Op* op = find_op("layer_norm");
  const Attrs attrs{{"given", std::string("x bias")}};
  EXPECT_EQ(operand_position(*op, attrs, "x"), 0U);
  EXPECT_EQ(operand_position(*op, attrs, "bias"), 1U);
  EXPECT_EQ(operand_position(*op, attrs, "weight"), std::nullopt);
}

TEST(OpTable, Suggestions) {
  const std::vector<std::string> names{"softmax", "log_softmax", "sum", "x"};
  EXPECT_EQ(did_you_mean("sotfmax", names), "did you mean 'softmax'?");
  EXPECT_EQ(did_you_mean("Softmax", names), "did you mean 'softmax'?");
  EXPECT_EQ(did_you_mean("logsoftmax", names), "did you mean 'log_softmax'?");
  EXPECT_EQ(did_you_mean("som", names), "did you mean 'sum'?");
  EXPECT_EQ(did_you_mean("y", names), "");
  EXPECT_EQ(did_you_mean("convolution", names), "");
}

TEST(OpTable, FamiliesHoldEveryOpOnce) {
  size_t count = 0;
  for (const auto& [title, ops] : ops_by_family()) {
    for (const Op* op : ops) EXPECT_EQ(op->family, title);
    count += ops.size();
  }
  EXPECT_EQ(count, op_table().size());
}

}  // namespace
}  // namespace hone::task
