// What the patterns in OpenCL C write, at golden points; which are offered for what; and how parts become one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/pattern/library.h"
#include "hone/pattern/opencl_text.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs, const std::string& sizes) {
  auto task = task::task_from_expressions(compute, inputs, {sizes});
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

std::vector<Offer> offers_for(const task::Task& task) {
  std::vector<std::string> ignored;
  return offers_opencl(task, ignored);
}

std::vector<std::string> patterns_of(const task::Task& task) {
  std::vector<std::string> names;
  for (const Offer& offer : offers_for(task)) names.push_back(offer.pattern);
  return names;
}

std::string first_source(const task::Task& task) {
  const auto offers = offers_for(task);
  return offers.empty() ? std::string() : offers.front().kernel.source;
}

TEST(OpenClOffers, EachFormHasItsPattern) {
  EXPECT_THAT(patterns_of(task_of("y = gelu(x) + b", {"x=f32[B,D]", "b=f32[D]"}, "B=64,D=512")), ElementsAre("map"));
  EXPECT_THAT(patterns_of(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=512")), ElementsAre("rows", "split"));
  EXPECT_THAT(patterns_of(task_of("y = sum(x)", {"x=f32[N]"}, "N=1000000")), ElementsAre("split", "rows"));
  EXPECT_THAT(patterns_of(task_of("y = sum(x, axis=-1)", {"x=f32[B,D]"}, "B=1000000,D=4")), ElementsAre("rows"));
  EXPECT_THAT(patterns_of(task_of("y = softmax(x, axis=0)", {"x=f32[B,D]"}, "B=64,D=512")), ElementsAre("columns"));
  EXPECT_THAT(patterns_of(task_of("y = relu(x @ w + b)", {"x=f32[M,K]", "w=f32[K,N]", "b=f32[N]"}, "M=64,N=64,K=64")),
              ElementsAre("matmul"));
  EXPECT_THAT(patterns_of(task_of("y = cumsum(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=512")), ElementsAre());
}

TEST(OpenClText, AMapGoesByVectorsAndEndsElementByElement) {
  const std::string source = first_source(task_of("y = relu(x) * 2", {"x=f32[N]"}, "N=1000"));
  EXPECT_THAT(source, HasSubstr("const FLOATS v"));
  EXPECT_THAT(source, HasSubstr("= GET(x_row + j);"));
  EXPECT_THAT(source, HasSubstr("for (int j = N / VEC * VEC + get_global_id(0); j < N; j += get_global_size(0))"));
  EXPECT_THAT(source, HasSubstr("\"i32:N\""));
  EXPECT_THAT(source, HasSubstr("requires = [\"N <= 1073741824\"]"));
  EXPECT_THAT(source, Not(HasSubstr("double")));
  EXPECT_THAT(source.substr(source.find("*/")), Not(HasSubstr("hone")));
}

TEST(OpenClText, IndicesAreLongOnlyWhereATensorNeedsThem) {
  const std::string large = first_source(task_of("y = x * 2", {"x=f32[N]"}, "N=3000000000"));
  EXPECT_THAT(large, HasSubstr("long N"));
  EXPECT_THAT(large, HasSubstr("\"i64:N\""));
  EXPECT_THAT(large, Not(HasSubstr("requires")));
}

TEST(OpenClText, RowsCombineBetweenBarriers) {
  const std::string source = first_source(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=512"));
  EXPECT_THAT(source, HasSubstr("__attribute__((reqd_work_group_size(ITEMS, 1, 1)))"));
  EXPECT_THAT(source, HasSubstr("__local float share_float[ITEMS];"));
  EXPECT_THAT(source, ContainsRegex("COMBINE\\(share_float, r[0-9]+, LARGER\\)"));
  EXPECT_THAT(source, ContainsRegex("COMBINE\\(share_float, r[0-9]+, PLUS\\)"));
}

TEST(OpenClText, NamesOfTheLanguageAreRenamed) {
  EXPECT_EQ(opencl::name_of("half"), "half_");
  EXPECT_EQ(opencl::name_of("float4"), "float4_");
  EXPECT_EQ(opencl::name_of("x"), "x");
  EXPECT_EQ(opencl::name_of("step"), "step_");
  EXPECT_EQ(opencl::name_of("step_"), "step__");
  EXPECT_EQ(opencl::name_of("COMBINE_PLACES"), "COMBINE_PLACES_");
  const std::string source = first_source(task_of("y = step * 2", {"step=f32[N]"}, "N=1000"));
  EXPECT_THAT(source, HasSubstr("restrict step_"));
  EXPECT_THAT(source, HasSubstr("args   = [\"step\", "));
}

TEST(OpenClText, CppIsSpelledAnew) {
  EXPECT_EQ(opencl::spelled("const int64_t i = hone::plain::least(int64_t(a < b), INT64_C(5));"),
            "const long i = least((long)(a < b), 5L);");
  EXPECT_EQ(opencl::spelled("[[maybe_unused]] float v0 = float(-__builtin_inf());"), "float v0 = (float)(-INFINITY);");
}

TEST(OpenClText, HelpersComeWithWhatTheyNeed) {
  const std::string helpers = opencl::helpers_for("y = PUT_BF16(v, p);  // no log_add_exp");
  EXPECT_THAT(helpers, HasSubstr("#define ROUND_BF16(x)"));
  EXPECT_THAT(helpers, HasSubstr("#define WIDTH"));
  EXPECT_THAT(helpers, HasSubstr("FP_CONTRACT OFF"));
  EXPECT_THAT(helpers, Not(HasSubstr("log_add_exp")));
  EXPECT_THAT(helpers, Not(HasSubstr("cl_khr_fp64")));
  EXPECT_THAT(opencl::helpers_for("double x;"), HasSubstr("cl_khr_fp64"));
}

TEST(OpenClParts, ShareWhatHangsOnNoTunable) {
  const auto offers = offers_for(task_of("y = softmax(x @ w, axis=-1)", {"x=bf16[B,K]", "w=bf16[K,D]"}, "B=64,K=32,D=64"));
  ASSERT_FALSE(offers.empty());
  const std::string& source = offers.front().kernel.source;
  const auto times = [&](const std::string& what) {
    int found = 0;
    for (size_t at = 0; (at = source.find(what, at)) != std::string::npos; at += what.size()) ++found;
    return found;
  };
  EXPECT_EQ(offers.front().pattern, "parts");
  EXPECT_EQ(times("#define PASTE(a, b)"), 1);
  EXPECT_EQ(times("#pragma OPENCL FP_CONTRACT OFF"), 1);
  EXPECT_EQ(times("#define FLOATS_1 "), 1);
  EXPECT_EQ(times("#define FLOATS_2 "), 1);
  EXPECT_EQ(times("#define FLOATS "), 0);
  EXPECT_EQ(times("void matmul_1("), 1);
  EXPECT_EQ(times("void rows_2("), 1);
}

TEST(OpenClPlainText, EveryTaskHasOneThatBinds) {
  for (const char* folder : {"test/cases/plain", "examples", "tasks"})
    for (const auto& file : plain_testing::task_files(folder)) {
      const auto task = task::load_task(file.path);
      ASSERT_TRUE(task) << task.error().to_string();
      const kernel::Kernel kernel = plain_opencl(*task);
      EXPECT_EQ(kernel.header.language, kernel::Language::kOpenCl);
      const std::string body = kernel.source.substr(kernel.source.find("*/"));
      for (const char* foreign : {"::", "int64_t", "[[", "static_cast", "__device__"})
        EXPECT_EQ(body.find(foreign), std::string::npos) << file.name << ": " << foreign;
      for (const auto& workload : task->workloads) {
        const auto plan = kernel::bind(kernel, *task, workload.bindings, {{"THREADS", 2}});
        EXPECT_TRUE(plan) << file.name << ": " << (plan ? "" : plan.error().to_string());
      }
    }
}

}  // namespace
}  // namespace hone::pattern
