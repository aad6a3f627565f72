// What rows kept by groups of blocks ask of a device, and what they keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include <fmt/format.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern::gpu_shared_rows_cases {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs, const std::string& sizes) {
  auto task = task::task_from_expressions(compute, inputs, {sizes});
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

/// Every allowed choice of the kernel's tunables, bound to each of `sizes` (in `make check` to one of them, in turns): look(launch),
/// the choice being in kernel.config. How many choices that were.
template <class Look>
size_t look_at_all(kernel::Kernel& kernel, const task::Task& task, const std::vector<task::Bindings>& sizes, const kernel::Limits& limits, Look look) {
  size_t looked_at = 0;
  const auto& tunables = kernel.header.tunables;
  std::vector<size_t> at(tunables.size(), 0);
  for (bool more = true; more;) {
    for (size_t k = 0; k < at.size(); ++k) kernel.config[tunables[k].name] = tunables[k].values[at[k]];
    if (kernel::allowed(kernel.header, kernel.config, limits).value()) {
      for (size_t n = 0; n < sizes.size(); ++n) {
        if (!base::testing::in_long_part() && n != looked_at % sizes.size()) continue;
        const auto bound = kernel::bind(kernel, task, sizes[n], limits);
        EXPECT_TRUE(bound) << bound.error().to_string();
        if (!bound) return 0;
        look(bound->launches[0], sizes[n]);
      }
      ++looked_at;
    }
    more = false;
    for (size_t k = 0; k < at.size() && !more; ++k) {
      at[k] = (at[k] + 1) % tunables[k].values.size();
      more = at[k] != 0;
    }
  }
  return looked_at;
}

void shared_rows_fill_the_device() {
  const task::Task given = task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4096,D=393216");
  const task::Task normal = normal_form(given);
  const auto program = find_program(normal);
  ASSERT_TRUE(program);
  auto kernel = gpu::shared_rows(*program, kernel::Language::kCuda);
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  constexpr int64_t kSms = 132, kMost = 232448, kOfMultiprocessor = 233472, kReserved = 1024;
  const kernel::Limits limits{{"SMS", kSms}, {"SHARED_MAX", kMost}, {"WAVE", 32}};
  const task::Bindings full{{"B", 4096}, {"D", 393216}};
  const auto plan = kernel::bind(*kernel, given, full, limits);
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->launches[0].grid[0], 256);          // 16 groups of 16 blocks,
  EXPECT_EQ(plan->launches[0].shared, 3 * (32 * 1024 + 8 * 8));   // three tiles each, and barriers: the whole row
  const size_t looked_at = look_at_all(*kernel, given, {full, {{"B", 1}, {"D", 100000007}}, {{"B", 7}, {"D", 1}}}, limits, [&](const kernel::BoundLaunch& launch, const task::Bindings&) {
    const int64_t resident = kernel->config["RESIDENT"], waves = kernel->config["THREADS"] / 32, own = 2 * 32 * waves + 16;
    EXPECT_LE(launch.grid[0], kSms * resident);
    EXPECT_LE(launch.shared + own, kMost);
    EXPECT_LE((launch.shared + own + kReserved) * resident, kOfMultiprocessor);
  });
  EXPECT_GT(looked_at, 1000u);
}
TEST(GpuSharedRows, FillsTheDeviceAndNeverMore) { shared_rows_fill_the_device(); }
TEST(LongGpuSharedRows, FillsTheDeviceAndNeverMore) { shared_rows_fill_the_device(); }

void specialised_rows_fill_the_device() {
  const task::Task given = task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4096,D=393216");
  const task::Task normal = normal_form(given);
  const auto program = find_program(normal);
  ASSERT_TRUE(program);
  auto kernel = gpu::specialised_rows(*program, kernel::Language::kCuda);
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  constexpr int64_t kSms = 132, kMost = 232448, kOfMultiprocessor = 233472, kReserved = 1024;
  const kernel::Limits limits{{"SMS", kSms}, {"SHARED_MAX", kMost}, {"WAVE", 32}};
  const task::Bindings full{{"B", 4096}, {"D", 393216}};
  const size_t looked_at = look_at_all(*kernel, given, {full, {{"B", 1}, {"D", 100000007}}, {{"B", 7}, {"D", 1}}}, limits, [&](const kernel::BoundLaunch& launch, const task::Bindings&) {
    const int64_t resident = kernel->config["RESIDENT"], waves = kernel->config["THREADS"] / 32, own = 16 * (16 + 32 * (waves + 1)) + 16;
    const int64_t place = kernel->config["THREADS"] * kernel->config["VEC"] * kernel->config["UNROLL"] * 4 + waves * 8;
    const int64_t kept = launch.args[launch.args.size() - 2].value, places = launch.args.back().value;
    EXPECT_LE(launch.grid[0], kSms * resident);
    EXPECT_LE(launch.block[0] * resident, 2048);
    EXPECT_LE(launch.shared + own, kMost);
    EXPECT_LE((launch.shared + own + kReserved) * resident, kOfMultiprocessor);
    EXPECT_EQ(launch.shared, places * place);
    EXPECT_GE(places, kept);
    EXPECT_LE(places, 14 * kept);
  });
  EXPECT_GT(looked_at, 1000u);
}
TEST(GpuSpecialisedRows, FillsTheDeviceAndNeverMore) { specialised_rows_fill_the_device(); }
TEST(LongGpuSpecialisedRows, FillsTheDeviceAndNeverMore) { specialised_rows_fill_the_device(); }

void clusters_fill_their_shared_memory() {
  constexpr int64_t kSms = 132, kMost = 232448;
  const kernel::Limits limits{{"SMS", kSms}, {"SHARED_MAX", kMost}, {"WAVE", 32}};
  // What is told of a row: two words for softmax, three for a norm.
  for (const auto& [compute, words] : {std::pair<const char*, int64_t>("y = softmax(x, axis=-1)", 2), std::pair<const char*, int64_t>("y = layer_norm(x)", 3)}) {
    const task::Task given = task_of(compute, {"x=f32[B,D]"}, "B=4096,D=393216");
    const task::Task normal = normal_form(given);
    const auto program = find_program(normal);
    ASSERT_TRUE(program);
    auto kernel = gpu::specialised_cluster(*program, kernel::Language::kCuda);
    ASSERT_TRUE(kernel) << kernel.error().to_string();
    EXPECT_TRUE(kernel->header.workspaces.empty());
    const task::Bindings full{{"B", 4096}, {"D", 393216}};
    const size_t looked_at = look_at_all(*kernel, given, {full, {{"B", 1}, {"D", 100000007}}, {{"B", 7}, {"D", 1}}}, limits, [&](const kernel::BoundLaunch& launch, const task::Bindings& size) {
      const int64_t cluster = kernel->config["CLUSTER"], waves = kernel->config["THREADS"] / 32;
      // Barriers and results of 8 rows, words about 16 rows.
      const int64_t own = 8 * (16 + 32 * (waves + 1)) + 16 * words * 8 * cluster;
      const int64_t place = kernel->config["THREADS"] * kernel->config["VEC"] * kernel->config["UNROLL"] * 4 + waves * 8;
      const int64_t kept = launch.args[launch.args.size() - 2].value, places = launch.args.back().value;
      const int64_t blocks = size.at("D") == 1 ? 1 : cluster;
      ASSERT_EQ(launch.cluster, std::vector<int64_t>{blocks});
      EXPECT_LE(launch.grid[0], std::max(blocks, (kSms / blocks - kernel->config["SPARE"]) * blocks));
      EXPECT_LE(launch.grid[0], size.at("B") * blocks);
      EXPECT_LE(launch.block[0], 1024);
      EXPECT_LE(launch.shared + own, kMost);
      EXPECT_EQ(launch.shared, places * place);
      EXPECT_GE(places, kept);
      EXPECT_LE(places, 6 * kept);
      // All that there is room for, where more is wanted.
      if (places < kept + std::min(kernel->config["AHEAD"], 5 * kept) && places < 448 / waves) {
        EXPECT_GT(launch.shared + own + place, kMost);
      }
    });
    EXPECT_GT(looked_at, 1000u);
  }
}
TEST(GpuSpecialisedRowsCluster, FillsItsSharedMemoryAndNeverMore) { clusters_fill_their_shared_memory(); }
TEST(LongGpuSpecialisedRowsCluster, FillsItsSharedMemoryAndNeverMore) { clusters_fill_their_shared_memory(); }

/// Blocks of the first choice's clusters, and clusters.
std::pair<int64_t, int64_t> clusters_of(const char* type, int64_t length, kernel::Config changes = {}) {
  const task::Task given = task_of("y = softmax(x, axis=-1)", {fmt::format("x={}[B,D]", type)}, fmt::format("B=4096,D={}", length));
  const task::Task normal = normal_form(given);
  const auto program = find_program(normal);
  if (!program) return {};
  auto kernel = gpu::specialised_cluster(*program, kernel::Language::kCuda);
  if (!kernel) return {};
  for (const auto& [name, value] : changes) kernel->config[name] = value;
  const kernel::Limits limits{{"SMS", 132}, {"SHARED_MAX", 232448}, {"WAVE", 32}};
  EXPECT_TRUE(kernel::allowed(kernel->header, kernel->config, limits).value()) << kernel->source;
  const auto bound = kernel::bind(*kernel, given, {{"B", 4096}, {"D", length}}, limits);
  EXPECT_TRUE(bound) << bound.error().to_string();
  if (!bound) return {};
  const auto& launch = bound->launches[0];
  return {launch.cluster[0], launch.grid[0] / launch.cluster[0]};
}

TEST(GpuSpecialisedRowsCluster, BeginsWithWhatFits) {
  using testing::Pair;
  EXPECT_THAT(clusters_of("f32", 393216), Pair(16, 7));
  EXPECT_THAT(clusters_of("f32", 262144), Pair(16, 7));
  EXPECT_THAT(clusters_of("f32", 262144, {{"CLUSTER", 8}}), Pair(8, 15));
  EXPECT_THAT(clusters_of("bf16", 262144), Pair(8, 15));
  EXPECT_THAT(clusters_of("f32", 65535), Pair(4, 32));
  EXPECT_THAT(clusters_of("f64", 1048576), Pair(16, 7));
}

TEST(GpuSpecialisedRows, HasOneRoundThatFindsAndOneThatWrites) {
  for (const auto& [compute, offered] : {std::pair<const char*, bool>("y = softmax(x, axis=-1)", true), std::pair<const char*, bool>("y = layer_norm(x)", true),
                                         std::pair<const char*, bool>("y = x / sum(abs(x - mean(x, axis=-1, keepdims=true)), axis=-1, keepdims=true)", false),
                                         std::pair<const char*, bool>("y = sum(x, axis=-1)", false)}) {
    const task::Task normal = normal_form(task_of(compute, {"x=f32[B,D]"}, "B=16,D=393216"));
    const auto program = find_program(normal);
    ASSERT_TRUE(program);
    EXPECT_EQ(gpu::specialised_rows(*program, kernel::Language::kCuda).has_value(), offered) << compute;
    EXPECT_FALSE(gpu::specialised_rows(*program, kernel::Language::kHip)) << compute;
    EXPECT_EQ(gpu::specialised_cluster(*program, kernel::Language::kCuda).has_value(), offered) << compute;
    EXPECT_FALSE(gpu::specialised_cluster(*program, kernel::Language::kHip)) << compute;
  }
}

TEST(GpuSharedRows, KeepsWhatIsReadAgain) {
  const task::Task given = task_of("y = layer_norm(x, w, b)", {"x=f32[B,D]", "w=f32[D]", "b=f32[D]"}, "B=16,D=4194304");
  const task::Task normal = normal_form(given);
  const auto program = find_program(normal);
  ASSERT_TRUE(program);
  const auto kernel = gpu::shared_rows(*program, kernel::Language::kCuda);
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  EXPECT_THAT(kernel->source, HasSubstr("tile.load(x_kept, x_row, x + (B * D))"));
  EXPECT_THAT(kernel->source, Not(HasSubstr("w_kept")));
  EXPECT_THAT(kernel->source, HasSubstr("GROUPS = [16, ")) << "weights come from memory once for all rows";
  const task::Task once = normal_form(task_of("y = sum(x, axis=-1)", {"x=f32[B,D]"}, "B=16,D=4194304"));
  const auto sum = find_program(once);
  ASSERT_TRUE(sum);
  EXPECT_FALSE(gpu::shared_rows(*sum, kernel::Language::kCuda));
}

TEST(GpuSharedRows, ARowThatOneBlockNearlyHoldsIsItsOwn) {
  for (const auto& [length, groups, resident] : {std::tuple<int64_t, int64_t, int64_t>{65535, 132, 1}, {131072, 44, 2}, {32768, 132, 2}}) {
    const task::Task normal = normal_form(task_of("y = x / mean(abs(x), axis=1, keepdims=true)", {"x=f32[B,D]"}, fmt::format("B=32768,D={}", length)));
    const auto program = find_program(normal);
    ASSERT_TRUE(program);
    const auto group = gpu::shared_rows(*program, kernel::Language::kCuda), elsewhere = gpu::shared_rows(*program, kernel::Language::kHip);
    ASSERT_TRUE(group && elsewhere);
    EXPECT_EQ(group->config.at("GROUPS"), groups) << length;
    EXPECT_EQ(group->config.at("RESIDENT"), resident) << length;
    EXPECT_EQ(elsewhere->config.at("RESIDENT"), 2) << "measured on NVIDIA's only";
    const auto specialised = gpu::specialised_rows(*program, kernel::Language::kCuda);
    ASSERT_TRUE(specialised) << specialised.error().to_string();
    EXPECT_EQ(specialised->config.at("GROUPS") == 132, length == 65535) << length;
  }
}

TEST(GpuSharedRows, BeginsWithinItsConstraints) {
  for (const std::string compute : {"y = softmax(x, axis=-1)", "y = layer_norm(x + r)"})
    for (const char* type : {"f32", "bf16", "f64"}) {
      std::vector<std::string> inputs{fmt::format("x={}[B,D]", type)};
      if (compute.find("+ r") != std::string::npos) inputs.emplace_back("r=bf16[B,D]");
      const task::Task normal = normal_form(task_of(compute, inputs, "B=16,D=393216"));
      const auto program = find_program(normal);
      ASSERT_TRUE(program);
      for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
        const auto kernel = gpu::shared_rows(*program, language);
        ASSERT_TRUE(kernel) << kernel.error().to_string();
        const bool cuda = language == kernel::Language::kCuda;
        const kernel::Limits limits{{"SMS", cuda ? 132 : 304}, {"SHARED_MAX", cuda ? 232448 : 65536}, {"WAVE", cuda ? 32 : 64}};
        EXPECT_TRUE(kernel::allowed(kernel->header, kernel->config, limits).value()) << kernel->source;
      }
    }
}

}  // namespace
}  // namespace hone::pattern::gpu_shared_rows_cases
