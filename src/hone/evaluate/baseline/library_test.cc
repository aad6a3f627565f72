// Which tasks libraries have as one call, and how the call looks. Needs no library.
#include <gmock/gmock.h>

#include "hone/evaluate/baseline/library_gemm.h"
#include "hone/evaluate/baseline/library_source.h"

namespace hone::evaluate {
namespace {

using ::testing::HasSubstr;

task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs) {
  auto task = task::task_from_expressions(compute, inputs, {});
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  return *task;
}

Result<GemmForm> form_of(const std::string& compute, const std::vector<std::string>& inputs) {
  const task::Task task = task_of(compute, inputs);
  return as_gemm(task::instantiate(task.primitive, {}).value());
}

std::string blas(const std::string& compute, const std::vector<std::string>& inputs) {
  const auto text = openblas_source(task_of(compute, inputs), {});
  return text ? *text : text.error().message;
}

std::string dnn(const std::string& compute, const std::vector<std::string>& inputs) {
  const auto text = onednn_source(task_of(compute, inputs), {});
  return text ? *text : text.error().message;
}

TEST(LibraryGemm, PlainAndTransposed) {
  const GemmForm plain = form_of("c = a @ b", {"a=f32[3,4]", "b=f32[4,5]"}).value();
  EXPECT_EQ(plain.m.extent, 3);
  EXPECT_EQ(plain.n.extent, 5);
  EXPECT_EQ(plain.k.extent, 4);
  EXPECT_EQ(plain.m.a, 4);
  EXPECT_EQ(plain.k.a, 1);
  EXPECT_EQ(plain.k.b, 5);
  EXPECT_EQ(plain.m.c, 5);
  EXPECT_TRUE(plain.batch.empty());
  const GemmForm turned = form_of("c = a.T @ b.T", {"a=f32[4,3]", "b=f32[5,4]"}).value();
  EXPECT_EQ(turned.k.a, 3);
  EXPECT_EQ(turned.n.b, 4);
}

TEST(LibraryGemm, LeadingAxesJoinWhereTheyAreOneSegment) {
  const GemmForm wide = form_of("c = a @ b", {"a=f32[2,3,4]", "b=f32[4,5]"}).value();
  EXPECT_EQ(wide.m.extent, 6);
  EXPECT_TRUE(wide.batch.empty());
  const GemmForm batched = form_of("c = a @ b", {"a=f32[2,7,3,4]", "b=f32[2,7,4,5]"}).value();
  ASSERT_EQ(batched.batch.size(), 1u);
  EXPECT_EQ(batched.batch[0].extent, 14);
  EXPECT_EQ(batched.batch[0].b, 20);
}

TEST(LibraryGemm, OtherTasksAreNot) {
  EXPECT_FALSE(form_of("c = a @ b + 1", {"a=f32[3,4]", "b=f32[4,5]"}).has_value());
  EXPECT_FALSE(form_of("c = exp(a) @ b", {"a=f32[3,4]", "b=f32[4,5]"}).has_value());
  EXPECT_FALSE(form_of("c = exp(a)", {"a=f32[3,4]"}).has_value());
}

TEST(OpenBlasSource, IsOneCall) {
  EXPECT_THAT(blas("c = a @ b", {"a=f32[3,4]", "b=f32[4,5]"}), HasSubstr("cblas_sgemm(101, 111, 111, 3, 5, 4, 1, a, 4, b, 5, 0, c, 5);"));
  EXPECT_THAT(blas("c = a.T @ b", {"a=f64[4,3]", "b=f64[4,5]"}), HasSubstr("cblas_dgemm(101, 112, 111, 3, 5, 4, 1, a, 3, b, 5, 0, c, 5);"));
  EXPECT_THAT(blas("c = a @ b", {"a=f32[3,4]", "b=f32[4,1]"}), HasSubstr("cblas_sgemv(101, 111, 3, 4, 1, a, 4, b, 1, 0, c, 1);"));
  EXPECT_THAT(blas("c = a @ b", {"a=f32[1,4]", "b=f32[4,5]"}), HasSubstr("cblas_sgemv(101, 112, 4, 5, 1, a, 5, b, 1, 0, c, 1);"));
  EXPECT_THAT(blas("c = a @ b", {"a=f32[6,3,4]", "b=f32[6,4,5]"}), HasSubstr("for (int64_t i0 = 0; i0 < 6; ++i0)"));
  EXPECT_THAT(blas("c = a @ b", {"a=bf16[3,4]", "b=bf16[4,5]"}), HasSubstr("f32 and f64 only"));
}

TEST(OneDnnSource, HasItsPrimitives) {
  EXPECT_THAT(dnn("c = a @ b", {"a=bf16[3,4]", "b=bf16[4,5]"}), HasSubstr("HONE_DESC(matmul, a, b, c)"));
  EXPECT_THAT(dnn("c = conv2d(x, w, b, padding=1)", {"x=f32[2,4,6,6]", "w=f32[8,4,3,3]", "b=f32[8]"}), HasSubstr("DNNL_ARG_BIAS"));
  EXPECT_THAT(dnn("c = max_pool2d(x, 2)", {"x=f32[2,4,6,6]"}), HasSubstr("pooling_max"));
  EXPECT_THAT(dnn("c = softmax(x, axis=-1)", {"x=f32[2,4]"}), HasSubstr("softmax_accurate"));
  EXPECT_THAT(dnn("c = relu(x)", {"x=f32[2,4]"}), HasSubstr("eltwise_relu"));
  EXPECT_THAT(dnn("c = relu(x) + 1", {"x=f32[2,4]"}), HasSubstr("not one of its primitives"));
  EXPECT_THAT(dnn("c = relu(x)", {"x=f64[2,4]"}), HasSubstr("not for f64"));
}

}  // namespace
}  // namespace hone::evaluate
