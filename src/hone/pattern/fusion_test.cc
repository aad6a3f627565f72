// Fusion: what the built-in's launch plans move through memory, against the least that the graph allows and against
// the same patterns an operation at a time. --gtest_filter=Fusion.* prints the table.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hone/pattern/library.h"
#include "hone/pattern/traffic.h"
#include "hone/target/cpu.h"

namespace hone::pattern {
namespace {

struct Fused {
  const char* file;   ///< in tasks/inference
  size_t launches;    ///< of the fused plan
  double least_gain;  ///< bytes of the unfused plan over those of the fused
};

/// Factors that are laid out anew are the one detour of a product, or the sums of parts of its depth.
bool is_packed(const kernel::Workspace& workspace) { return workspace.name.starts_with("packed_") || workspace.name == "sums"; }

// Products gain least: their factors are laid out anew either way, and for few rows the weights are most of it.
class Fusion : public testing::TestWithParam<Fused> {
 protected:
  void SetUp() override {
    auto task = task::load_task(fmt::format(HONE_SOURCE_DIR "/tasks/inference/{}.toml", GetParam().file));
    ASSERT_TRUE(task) << task.error().to_string();
    task_ = std::move(*task);
    bindings_ = task_.workloads.front().bindings;
  }
  Traffic traffic(const kernel::Kernel& kernel) const {
    const auto found = traffic_of(kernel, task_, bindings_, target::cpu_limits(target::cpu_info()));
    if (!found) ADD_FAILURE() << found.error().to_string() << "\n" << kernel.source;
    return found ? *found : Traffic{};
  }
  task::Task task_;
  task::Bindings bindings_;
};

TEST_P(Fusion, ReadsAndWritesEveryTensorOnce) {
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(task_, why_not);
  ASSERT_FALSE(offers.empty());
  const kernel::Kernel& fused = offers.front().kernel;
  const auto unfused = unfused_cpp(task_);
  ASSERT_TRUE(unfused) << unfused.error().to_string();
  const task::Cost least = task::minimal_cost(task::instantiate(task_.primitive, bindings_).value());
  const Traffic with = traffic(fused), without = traffic(unfused->kernel);
  constexpr double kMiB = 1 << 20;
  fmt::print("{:24} least {:8.1f} MiB; fused ({}): {} launches, {:8.1f} MiB; unfused: {} launches, {:8.1f} MiB, {:.2f} times as much\n",
             GetParam().file, (least.bytes_read + least.bytes_written) / kMiB, offers.front().pattern, with.launches.size(), with.all() / kMiB,
             without.launches.size(), without.all() / kMiB, without.all() / with.all());
  EXPECT_EQ(with.launches.size(), GetParam().launches);
  EXPECT_DOUBLE_EQ(with.inputs, least.bytes_read);
  EXPECT_DOUBLE_EQ(with.outputs, least.bytes_written);
  EXPECT_TRUE(std::all_of(fused.header.workspaces.begin(), fused.header.workspaces.end(), is_packed)) << "an intermediate result goes through memory";
  EXPECT_GT(without.launches.size(), with.launches.size());
  EXPECT_GE(without.all() / with.all(), GetParam().least_gain);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Fusion,
                         testing::Values(Fused{"gemm_bias_gelu_bf16", 3, 1.2}, Fused{"gemm_bias_gelu_tanh_f16", 3, 1.2}, Fused{"gemm_bias_silu_f16", 2, 1.005},
                                         Fused{"gemm_residual_bf16", 3, 1.1}, Fused{"swiglu_bf16", 1, 1.5}, Fused{"geglu_tanh_f16", 1, 1.5},
                                         Fused{"rmsnorm_residual_bf16", 1, 1.2}, Fused{"layer_norm_modulate_bf16", 1, 1.5},
                                         Fused{"group_norm_silu_f16", 1, 1.5}, Fused{"logsoftmax_nll_bf16", 1, 1.5}, Fused{"softmax_additive_mask_bf16", 1, 1.5},
                                         Fused{"quantise_rows_i8", 1, 1.5}, Fused{"sampling_probabilities_f32", 1, 1.5},
                                         Fused{"softmax_bool_mask_f16", 1, 1.5}, Fused{"rope_bf16", 1, 2}, Fused{"dequantise_groups_f16", 1, 1.5}),
                         [](const auto& parameter) { return std::string(parameter.param.file); });

task::Task task_of(const char* compute, const std::vector<std::string>& inputs, const char* workload) {
  auto task = task::task_from_expressions(compute, inputs, {workload});
  if (!task) throw std::runtime_error(task.error().to_string());
  return *task;
}

TEST(Unfused, IsAPartForEachOperation) {
  const auto unfused = unfused_cpp(task_of("y = relu(x @ w + b)", {"x=f32[B,D]", "w=f32[D,N]", "b=f32[N]"}, "B=64,D=32,N=128"));
  ASSERT_TRUE(unfused) << unfused.error().to_string();
  std::vector<std::string> functions;
  for (const auto& launch : unfused->kernel.header.launches) functions.push_back(launch.function);
  EXPECT_EQ(functions, (std::vector<std::string>{"part_1::pack_a", "part_1::pack_b", "part_1::multiply", "part_2::map", "part_3::map"}));
}

TEST(Unfused, AnOperationOfManyPrimitivesStaysWhole) {
  const auto none = unfused_cpp(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=32"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
}

TEST(Unfused, NarrowValuesAreStoredNarrow) {
  const auto unfused = unfused_cpp(task_of("y = (x + z) * gelu(x)", {"x=bf16[B,D]", "z=bf16[B,D]"}, "B=64,D=32"));
  ASSERT_TRUE(unfused) << unfused.error().to_string();
  ASSERT_EQ(unfused->kernel.header.workspaces.size(), 2U);
  for (const auto& workspace : unfused->kernel.header.workspaces) EXPECT_EQ(workspace.type.dtype, task::DType::kBF16) << workspace.name;
}

TEST(Fused, AConcatenationIsWrittenInPlace) {
  const auto task = task::load_task(HONE_SOURCE_DIR "/tasks/inference/rope_bf16.toml");
  ASSERT_TRUE(task) << task.error().to_string();
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(*task, why_not);
  ASSERT_FALSE(offers.empty());
  EXPECT_EQ(offers.front().pattern, "concat");
  EXPECT_EQ(offers.front().kernel.header.launches.size(), 1U) << "both halves read the same";
  EXPECT_TRUE(offers.front().kernel.header.workspaces.empty());
}

TEST(Traffic, CountsWhatEachLaunchUses) {
  // Split rows: two launches read x (the second writes y), and partial results go between them.
  const task::Task task = task_of("y = x / sum(x, axis=-1, keepdims=true)", {"x=f32[B,D]"}, "B=4,D=100000");
  std::vector<std::string> why_not;
  for (const Offer& offer : offers_cpp(task, why_not)) {
    const auto traffic = traffic_of(offer.kernel, task, task.workloads.front().bindings, target::cpu_limits(target::cpu_info()));
    ASSERT_TRUE(traffic) << traffic.error().to_string();
    constexpr double kBytes = 4 * 100000 * 4;
    EXPECT_DOUBLE_EQ(traffic->outputs, kBytes) << offer.pattern;
    EXPECT_DOUBLE_EQ(traffic->inputs, offer.pattern == "split" ? 2 * kBytes : kBytes) << offer.pattern;
    EXPECT_EQ(traffic->workspaces > 0, offer.pattern == "split") << offer.pattern;
  }
}

TEST(Traffic, AFunctionThatIsNotThereIsAnError) {
  const task::Task task = task_of("y = -x", {"x=f32[B]"}, "B=4");
  kernel::Kernel kernel = naive_cpp(task);
  kernel.header.launches.front().function = "elsewhere";
  const auto traffic = traffic_of(kernel, task, task.workloads.front().bindings, target::cpu_limits(target::cpu_info()));
  ASSERT_FALSE(traffic);
  EXPECT_EQ(traffic.error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace hone::pattern
