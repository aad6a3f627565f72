#include "hone/pattern/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_gpu.h"

namespace hone::pattern {
namespace {

using ::testing::HasSubstr;

task::Task make(const std::string& compute, const std::vector<std::string>& inputs, const std::vector<std::string>& workloads) {
  auto task = task::task_from_expressions(compute, inputs, workloads);
  HONE_CHECK(task.has_value(), task ? "" : task.error().to_string());
  return std::move(*task);
}

TEST(Names, keep_what_is_made_of_names_apart) {
  const task::Task task = make("y = x + x_row + xrow", {"x=f32[B, D]", "x_row=f32[B, D]", "xrow=f32[B, D]"}, {"B=2,D=8"});
  const Names names(task);
  std::set<std::string> all;
  for (const auto& input : names.task().inputs) all.insert(input.name);
  EXPECT_EQ(all.size(), 3U);
  for (const std::string& a : all)
    for (const std::string& b : all) EXPECT_FALSE(b.starts_with(a + "_")) << a << " " << b;
}

TEST(Names, rename_every_symbol_of_the_graph) {
  const task::Task task = make("y = sum(reshape(x, (B, 2, D)), axis=1) * D", {"x=f32[B, 2*D]"}, {"B=2,D=8"});
  const Names names(task);
  EXPECT_EQ(names.task().symbols(), (std::vector<std::string>{"n_B", "n_D"}));
  EXPECT_EQ(names.task().workloads.front().bindings, (task::Bindings{{"n_B", 2}, {"n_D", 8}}));
  for (const task::Node& node : names.task().primitive.nodes)
    for (const auto& dim : node.type.dims)
      for (const std::string& symbol : dim.symbols()) EXPECT_THAT(symbol, testing::StartsWith("n_"));
}

/// The plan speaks of the user's tensors and symbols, whatever they are called; the functions of none of them.
TEST(Names, plans_are_the_users) {
  const task::Task task = make("shared = softmax(float, axis=-1) * THREADS_", {"float=f32[int, VEC]", "THREADS_=f32[VEC]"}, {"int=4,VEC=64"});
  std::vector<std::string> why;
  std::vector<kernel::Kernel> kernels = {naive_cpp(task), plain_cpp(task), plain_gpu(task, kernel::Language::kCuda)};
  for (Offer& offer : offers_cpp(task, why)) kernels.push_back(std::move(offer.kernel));
  for (Offer& offer : offers_gpu(task, kernel::Language::kHip, why)) kernels.push_back(std::move(offer.kernel));
  ASSERT_GT(kernels.size(), 5U);
  const kernel::Limits limits{{"THREADS", 2}, {"SMS", 16}, {"SHARED_MAX", 65536}, {"WAVE", 64}, {"L1_BYTES", 32768}, {"L2_BYTES", 1 << 20},
                              {"L3_BYTES", 1 << 25}, {"VECTOR_BYTES", 64}};
  for (const kernel::Kernel& kernel : kernels) {
    const auto plan = kernel::bind(kernel, task, task.workloads.front().bindings, limits);
    ASSERT_TRUE(plan) << plan.error().to_string() << kernel.source;
    bool written = false;
    for (const auto& launch : plan->launches)
      for (const auto& argument : launch.args) written |= argument.kind == kernel::Argument::Kind::kTensor && argument.tensor == 2;
    EXPECT_TRUE(written) << kernel.source;
    const std::string code = kernel.source.substr(kernel.source.find("*/"));
    EXPECT_THAT(code, Not(HasSubstr("* float,"))) << kernel.source;
    EXPECT_THAT(code, HasSubstr("in_float")) << kernel.source;
    for (const auto& tunable : kernel.header.tunables) EXPECT_NE(tunable.name, "VEC") << "the user's symbol";
  }
}

TEST(Names, parts_have_namespaces) {
  const task::Task task = make("y = softmax(relu(a @ b), axis=-1)", {"a=f32[M, K]", "b=f32[K, N]"}, {"M=4,K=8,N=64"});
  std::vector<std::string> why;
  const auto offers = offers_gpu(task, kernel::Language::kCuda, why);
  ASSERT_FALSE(offers.empty());
  std::set<std::string> functions;
  for (const auto& launch : offers.front().kernel.header.launches) functions.insert(launch.function.substr(0, 8));
  EXPECT_THAT(functions, testing::IsSupersetOf({"part_1::", "part_2::"})) << offers.front().kernel.source;
  EXPECT_THAT(offers.front().kernel.source, Not(HasSubstr("#include \"hone/gpu/rows_2.h\"")));
}

}  // namespace
}  // namespace hone::pattern
