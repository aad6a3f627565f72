#include "hone/task/graph/op_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::task {
namespace {

using testing::HasSubstr;

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

TEST(OpTable, ReferencePage) {
  const std::string page = op_reference_markdown();
  EXPECT_THAT(page, HasSubstr("## Softmax"));
  EXPECT_THAT(page, HasSubstr("| `softmax(x, axis: axis = -1)` |"));
  EXPECT_THAT(page, HasSubstr("Also `swish`."));
  for (const auto& [name, op] : op_table()) EXPECT_THAT(page, HasSubstr("| `" + op.signature + "` |"));
}

}  // namespace
}  // namespace hone::task
