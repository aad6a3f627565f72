// Every offer for matrix products on both emulated GPUs (in `make check` one of each sixth case), judged by the evaluator, at small shapes of which one allows
// wide loads and one does not; and the accuracy of split products against the fp64 oracle.
#include "hone/pattern/gpu_matmul.h"

#include <gtest/gtest.h>

#include <ostream>
#include <ranges>

#include <fmt/format.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/judge_testing.h"

namespace hone::pattern::gpu_matmul_slow_cases {
namespace {

using kernel::Language;

struct Case {
  std::string name, compute;
  std::vector<std::string> inputs, workloads;
  std::string offered;                        ///< the workload to make offers for; empty: the first
  task::Structure structure = task::Structure::kNone;
  bool last = false;                          ///< the last offer alone
  bool first = false;                         ///< the first offer alone
  task::Track track = task::Track::kStrict;
  bool cuda = false;                          ///< HIP has no such product
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  const std::vector<std::string> two = {"M=20,K=36,N=68", "M=67,K=35,N=18"};
  constexpr char kLarge[] = "M=4096,K=512,N=4096";  // where groups of warps come first
  constexpr auto kNone = task::Structure::kNone;
  return {
      {"rows_times_columns", "C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, two, ""},
      {"both_transposed", "C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, two, ""},
      {"batches_and_an_epilogue", "y = gelu(x @ w.T + b) + r", {"x=f32[B,M,K]", "w=f32[N,K]", "b=f32[N]", "r=f32[B,M,N]"},
       {"B=2,M=9,K=20,N=36", "B=3,M=5,K=17,N=11"}, ""},
      {"a_batch_of_products", "y = einsum('bik,hkj->bhij', x, w)", {"x=f32[2,M,K]", "w=f32[3,K,N]"}, {"M=9,K=20,N=36", "M=5,K=17,N=11"}, "",
       task::Structure::kNone, true},
      {"groups", "C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, {"M=70,K=70,N=132", "M=20,K=36,N=68"}, kLarge, kNone, false, true},
      {"groups_transposed_and_an_epilogue", "y = gelu(x.T @ w.T + b) + r", {"x=f32[K,M]", "w=f32[N,K]", "b=f32[N]", "r=f32[M,N]"},
       {"M=67,K=35,N=18", "M=20,K=68,N=36"}, kLarge, kNone, false, true},
      {"groups_of_batches", "y = einsum('bik,hkj->bhij', x, w)", {"x=f32[2,M,K]", "w=f32[3,K,N]"}, {"M=9,K=20,N=36", "M=5,K=17,N=11"},
       kLarge, kNone, false, true},
      {"groups_on_two_levels", "C = A @ B.T", {"A=f32[M,K]", "B=f32[N,K]"}, {"M=20,K=1100,N=36", "M=5,K=515,N=9"},
       "M=4096,K=4096,N=4096", kNone, false, true},
      {"groups_of_a_split_depth", "C = abs(A.T @ B.T)", {"A=f32[K,M]", "B=f32[N,K]"}, {"M=20,K=1100,N=36", "M=5,K=1031,N=9"},
       "M=256,K=65536,N=256", kNone, false, true},
      {"groups_of_batches_and_a_split_depth", "y = einsum('bik,kj->bij', x, w)", {"x=f32[3,M,K]", "w=f32[K,N]"}, {"M=9,K=1100,N=36"},
       "M=256,K=65536,N=256", kNone, false, true, task::Track::kTf32},
      {"groups_and_triangles", "C = triu(A @ B)", {"A=f32[N,N]", "B=f32[N,N]"}, {"N=68", "N=131"}, "N=4096", task::Structure::kTriu,
       false, true},
      {"groups_of_short_sums", "C = A @ B.T + b", {"A=f32[M,K]", "B=f32[N,K]", "b=f32[N]"}, {"M=70,K=70,N=132", "M=20,K=33,N=68"},
       "M=32768,K=64,N=32768", kNone, true},
      {"groups_in_tf32", "C = A.T @ B", {"A=f32[K,M]", "B=f32[K,N]"}, {"M=70,K=70,N=132", "M=20,K=36,N=68"}, kLarge, kNone, false, true,
       task::Track::kTf32},
      {"direct", "C = A @ B + b", {"A=f32[M,K]", "B=f32[K,N]", "b=f32[N]"}, {"M=70,K=140,N=132", "M=20,K=36,N=67"}, kLarge, kNone, false, true,
       task::Track::kTf32},
      {"direct_of_depths", "C = A @ B.T", {"A=f32[M,K]", "B=f32[N,K]"}, {"M=70,K=140,N=132", "M=20,K=35,N=68"}, kLarge, kNone, false, true,
       task::Track::kTf32},
      {"direct_short_sums", "C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, {"M=140,K=70,N=132", "M=20,K=64,N=68"}, "M=32768,K=64,N=32768", kNone,
       false, true, task::Track::kTf32},
      {"direct_of_a_split_depth", "C = abs(A @ B)", {"A=f32[M,K]", "B=f32[K,N]"}, {"M=20,K=1100,N=36", "M=5,K=1031,N=9"},
       "M=256,K=65536,N=256", kNone, false, true, task::Track::kTf32},
      {"direct_both_transposed", "C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, {"M=72,K=36,N=132", "M=21,K=67,N=68"}, kLarge, kNone, false,
       true, task::Track::kTf32},
      {"direct_of_batches", "y = einsum('bik,hkj->bhij', x, w)", {"x=f32[2,M,K]", "w=f32[3,K,N]"}, {"M=9,K=20,N=36", "M=5,K=17,N=11"},
       kLarge, kNone, false, true, task::Track::kTf32},
      {"direct_and_triangles", "C = triu(A @ B)", {"A=f32[N,N]", "B=f32[N,N]"}, {"N=68", "N=131"}, "N=4096", task::Structure::kTriu,
       false, true, task::Track::kTf32},
      {"direct_in_three_products", "C = gelu(A @ B + b)", {"A=f32[M,K]", "B=f32[K,N]", "b=f32[N]"}, {"M=70,K=140,N=132", "M=20,K=36,N=67", "M=20,K=35,N=68"}, "M=1000,K=200,N=1000", kNone, false, true},
      {"direct_in_three_products_of_depths", "y = x @ w.mT", {"x=f32[B,M,K]", "w=f32[B,N,K]"}, {"B=2,M=70,K=140,N=132", "B=3,M=20,K=35,N=168"}, "B=56,M=197,K=128,N=197"},
      {"direct_in_three_products_both_transposed", "C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, {"M=72,K=36,N=132", "M=21,K=67,N=68"}, "M=2048,K=300,N=1000"},
      {"direct_in_three_products_of_a_deep_split", "C = abs(A @ B)", {"A=f32[M,K]", "B=f32[K,N]"}, {"M=20,K=1100,N=36", "M=5,K=1031,N=9"}, "M=48,K=65536,N=1000"},
      {"direct_in_three_products_of_short_batches", "y = w @ x", {"x=f32[B,K,N]", "w=f32[M,K]"}, {"B=2,M=40,K=33,N=90", "B=3,M=20,K=68,N=64"}, "B=7,M=320,K=99,N=924"},
      {"groups_in_bf16", "C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, {"M=70,K=140,N=132", "M=20,K=36,N=68"}, kLarge, kNone, false, true,
       task::Track::kBf16},
      {"tensors", "C = A @ B", {"A=bf16[M,K]", "B=bf16[K,N]"}, {"M=24,K=40,N=72", "M=200,K=136,N=264"}, kLarge, kNone, false, true},
      {"tensors_of_batches_and_an_epilogue", "y = gelu(x @ w.mT + b) + r", {"x=f16[B,M,K]", "w=f16[B,N,K]", "b=f16[N]", "r=f16[B,M,N]"},
       {"B=3,M=70,K=72,N=67", "B=2,M=129,K=8,N=130"}, "B=1,M=4096,K=512,N=4096", kNone, false, true},
      {"tensors_of_floats_of_one_byte", "y = bf16((x @ w.T) * a.unsqueeze(1) * b)", {"x=f8e4m3[M,K]", "w=f8e4m3[N,K]", "a=f32[M]", "b=f32[N]"},
       {"M=70,K=144,N=67", "M=129,K=272,N=130"}, kLarge, kNone, false, true},
      {"tensors_in_another_order", "y = transpose(relu(x @ w), 0, 1).reshape(M, B*N)", {"x=bf16[B,M,K]", "w=bf16[K,N]"},
       {"B=3,M=70,K=72,N=72", "B=2,M=33,K=16,N=24"}, "B=2,M=2048,K=512,N=4096", kNone, false, true},
      {"tensors_of_lines_written_anew", "C = A @ B", {"A=bf16[M,K]", "B=bf16[K,N]"}, {"M=24,K=37,N=75", "M=130,K=136,N=70"}, "M=2048,K=2045,N=3001", kNone, false, true},
      {"tensors_of_a_left_factor_written_anew", "y = gelu(x.mT @ w + b)", {"x=f16[B,K,M]", "w=f16[K,N]", "b=f16[N]"}, {"B=3,M=67,K=40,N=72", "B=2,M=24,K=72,N=136"},
       "B=2,M=2048,K=512,N=3072", kNone, false, true},
      {"tensors_of_bytes_across_the_depth", "y = bf16(x @ w)", {"x=f8e4m3[M,K]", "w=f8e4m3[K,N]"}, {"M=70,K=144,N=67", "M=129,K=272,N=130"}, kLarge, kNone, false, true},
      {"tensors_of_a_byte_beside_a_half", "y = x @ f16(w).T", {"x=f16[M,K]", "w=i8[N,K]"}, {"M=70,K=40,N=67", "M=33,K=77,N=130"}, "M=4096,K=511,N=4096", kNone, false, true},
      {"tensors_of_bytes", "y = f16(f32(i32(x) @ i32(w).mT) * s)", {"x=i8[B,M,K]", "w=i8[B,N,K]", "s=f32[N]"},
       {"B=2,M=70,K=144,N=67", "B=3,M=9,K=16,N=130"}, "B=1,M=4096,K=512,N=4096", kNone, false, true, task::Track::kStrict, true},
      {"groups_of_floats_of_one_byte", "C = A @ B", {"A=f8e5m2[M,K]", "B=f8e4m3[K,N]"}, {"M=24,K=40,N=72", "M=67,K=135,N=18"}, kLarge, kNone, false, true},
      {"groups_of_bf16", "C = A.T @ B", {"A=bf16[K,M]", "B=bf16[K,N]"}, {"M=24,K=40,N=72", "M=67,K=135,N=18"}, kLarge, kNone, false, true},
      {"groups_of_f16", "C = triu(A.T @ B.T)", {"A=f16[N,N]", "B=f16[N,N]"}, {"N=72", "N=131"}, "N=4096", task::Structure::kTriu, false, true},
      {"bf16", "C = A @ B", {"A=bf16[M,K]", "B=bf16[K,N]"}, {"M=24,K=40,N=72", "M=67,K=35,N=18"}, ""},
      {"f16_transposed", "C = A.T @ B.T", {"A=f16[K,M]", "B=f16[N,K]"}, {"M=24,K=40,N=72", "M=67,K=35,N=18"}, ""},
      {"split_depth", "C = abs(A @ B)", {"A=f32[M,K]", "B=f32[K,N]"}, {"M=8,K=1100,N=12", "M=5,K=1031,N=9"}, "M=256,K=65536,N=256"},
      {"upper_triangles", "C = triu(A @ B)", {"A=f32[N,N]", "B=f32[N,N]"}, {"N=68", "N=131"}, "", task::Structure::kTriu},
      {"lower_triangle_and_rectangle", "C = A @ B", {"A=f32[N,N]", "B=f32[N,M]"}, {"N=68,M=8", "N=131,M=33"}, "", task::Structure::kTril},
      {"matrix_times_vector", "y = A @ x", {"A=f32[M,K]", "x=f32[K,1]"}, {"M=9,K=520", "M=70,K=77"}, ""},
      {"few_rows", "y = x @ w.T + b", {"x=f32[M,K]", "w=bf16[N,K]", "b=f32[N]"}, {"M=3,K=520,N=10", "M=5,K=77,N=70"}, ""},
  };
}

task::Task task_of(const Case& c, const std::vector<std::string>& workloads) {
  task::Task task = task::task_from_expressions(c.compute, c.inputs, workloads).value();
  task.track = c.track;
  if (c.structure == task::Structure::kNone) return task;
  // Of the first factor, and of the second where it is square.
  for (task::InputSpec& input : task.inputs)
    if (input.type.dims[0] == input.type.dims[1]) input.structure = c.structure;
  return task::parse_task(task.to_toml(), c.name).value();
}

/// Smaller tiles than a device wants, so that the shapes fill several and the emulator less; one of two kinds.
void make_small(kernel::Kernel& kernel, bool other) {
  const auto set = [&](const char* name, int64_t value) {
    if (const auto it = kernel.config.find(name); it != kernel.config.end()) it->second = value;
  };
  set("ROWS", 64), set("COLUMNS", 64), set("LEFT", 64), set("RIGHT", 64), set("WARP_COLUMNS", 32), set("STAGES", 3), set("TURNS", 1), set("THREADS", 128), set("LINES", 2);
  if (!other) return;
  if (kernel.config.contains("RIGHT")) {   // two instructions for a tile's columns, and two levels where they are few
    const bool deep = kernel.config.contains("LEVELS") && kernel.config.at("LEVELS") == 2;
    set("RIGHT", deep ? 96 : 160);
    return;
  }
  const bool units = kernel.config.contains("WARP_ROWS");
  set("DEPTH", units ? 16 : 8), set("WARP_ROWS", 16), set("WARP_COLUMNS", 64), set("STAGES", 2), set("GROUP", 1);
  set("LINES", 1), set("UNROLL", 4);
}

std::shared_ptr<target::Toolchain> emulator() {
  auto made = target::simt_toolchain();
  return made ? std::shared_ptr<target::Toolchain>(std::move(*made)) : nullptr;
}

evaluate::Verdict verdict_of(const task::Task& task, const kernel::Kernel& kernel, const std::shared_ptr<target::Toolchain>& toolchain) {
  const auto verifier = evaluate::Verifier::create(task, toolchain, judge_testing::emulated_options());
  EXPECT_TRUE(verifier) << (verifier ? "" : verifier.error().to_string());
  const auto verdict = (*verifier)->verify(kernel);
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().to_string());
  return verdict ? *verdict : evaluate::Verdict{evaluate::VerdictKind::kLaunchFails, "no verdict", "", {}};
}

class GpuMatmul : public testing::TestWithParam<Case> {};

TEST_P(GpuMatmul, EveryOfferIsAccepted) {
  const auto toolchain = emulator();
  if (!toolchain) GTEST_SKIP() << "no emulator";
  const Case& c = GetParam();
  const task::Task task = task_of(c, c.workloads);
  for (const Language language : {Language::kCuda, Language::kHip}) {
    if (c.cuda && language != Language::kCuda) continue;
    auto offers = gpu_matmul_offers(c.offered.empty() ? task : task_of(c, {c.offered}), language);
    ASSERT_FALSE(offers.empty());
    if (c.first && language == Language::kHip) continue;
    if (c.last) offers.erase(offers.begin(), offers.end() - 1);
    // Cases of groups are about what writes both factors anew, wherever that comes.
    if (c.name.starts_with("groups"))
      std::erase_if(offers, [](const Offer& offer) { return offer.action.find("copy engine") != std::string::npos || offer.action.find("as they lie") != std::string::npos; });
    ASSERT_FALSE(offers.empty());
    if (c.first) offers.erase(offers.begin() + 1, offers.end());
    bool other = language == Language::kHip;
    const bool both = !c.cuda && !c.first;   // in `make check` the one language or the other
    if (both && !base::testing::takes_item(language == Language::kCuda ? 0 : 1, 2)) continue;
    for (size_t i = 0; i < offers.size(); ++i) {
      Offer& offer = offers[i];
      make_small(offer.kernel, other);
      other = !other;
      if (!base::testing::takes_item(i, offers.size())) continue;
      const auto verdict = verdict_of(task, offer.kernel, toolchain);
      EXPECT_TRUE(verdict.accepted()) << kernel::name_of(language) << ", " << offer.action << ": " << evaluate::name_of(verdict.kind)
                                      << ": " << verdict.reason << "\n" << verdict.detail << offer.kernel.source;
    }
  }
}

const auto name_of_case = [](const auto& parameter) { return parameter.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, GpuMatmul, testing::ValuesIn(base::testing::one_of_each(6, cases())), name_of_case);
INSTANTIATE_TEST_SUITE_P(LongCases, GpuMatmul, testing::ValuesIn(cases()), name_of_case);

/// The first offer (that takes an action), on a card with two multiprocessors, so that a block makes several tiles; in clusters with two of these.
/// In `make check` one of the configurations.
void expect_accepted(const Case& c, const std::vector<kernel::Config>& configs, const std::string& action = {}) {
  const auto toolchain = emulator();
  if (!toolchain) GTEST_SKIP() << "no emulator";
  const auto offers = gpu_matmul_offers(task_of(c, {c.offered}), Language::kCuda);
  const auto offer = std::ranges::find_if(offers, [&](const Offer& o) { return action.empty() || o.action == action; });
  ASSERT_NE(offer, offers.end()) << action;
  std::string source = offer->kernel.source;
  for (const auto& [sms, two] : {std::pair{"min(SMS,", "min(2,"}, {"max(1, SMS // (CLUSTER_DOWN * CLUSTER_ACROSS))", "2"}}) replace_all(source, sms, two);
  kernel::Kernel kernel = kernel::parse_kernel(source, "tensors.cu").value();
  for (size_t i = 0; i < configs.size(); ++i) {
    if (!base::testing::takes_item(i, configs.size())) continue;
    const kernel::Config& config = configs[i];
    kernel.config = config;
    const auto verdict = verdict_of(task_of(c, c.workloads), kernel, toolchain);
    EXPECT_TRUE(verdict.accepted()) << config.at("TURNS") << ": " << verdict.reason << "\n" << verdict.detail;
  }
}

/// Tiles that groups of warps share, that they take turns at, and that have more rows than one product.
void expect_tensors_accepted() {
  expect_accepted({"", "y = abs(x @ w.T)", {"x=bf16[M,K]", "w=bf16[N,K]"}, {"M=300,K=320,N=190"}, "M=4096,K=512,N=4096"},
                  {{{"ROWS", 128}, {"COLUMNS", 64}, {"TURNS", 0}, {"AHEAD", 1}, {"STAGES", 3}, {"GROUP", 1}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}},
                   {{"ROWS", 256}, {"COLUMNS", 128}, {"TURNS", 0}, {"AHEAD", 1}, {"STAGES", 3}, {"GROUP", 1}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}},
                   {{"ROWS", 128}, {"COLUMNS", 192}, {"TURNS", 0}, {"AHEAD", 4}, {"STAGES", 3}, {"GROUP", 1}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}},
                   {{"ROWS", 64}, {"COLUMNS", 64}, {"TURNS", 1}, {"AHEAD", 2}, {"STAGES", 3}, {"GROUP", 4}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}},
                   {{"ROWS", 128}, {"COLUMNS", 128}, {"TURNS", 1}, {"AHEAD", 1}, {"STAGES", 4}, {"GROUP", 8}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}}});
}
TEST(GpuMatmulTensors, AreAcceptedHoweverTheWorkIsShared) { expect_tensors_accepted(); }
TEST(LongGpuMatmulTensors, AreAcceptedHoweverTheWorkIsShared) { expect_tensors_accepted(); }

/// Clusters of blocks that read what their tiles have in common once: an odd number of tiles either way, batches of which one factor has one, and
/// more tiles than a cluster makes at a time.
void expect_clusters_accepted() {
  const auto clusters = [](int64_t rows, int64_t columns, int64_t turns) {
    std::vector<kernel::Config> all;
    for (const auto& [down, across] : {std::pair<int64_t, int64_t>{2, 1}, {1, 2}})
      all.push_back({{"ROWS", rows}, {"COLUMNS", columns}, {"TURNS", turns}, {"AHEAD", 2}, {"STAGES", 3}, {"GROUP", 4}, {"CLUSTER_DOWN", down}, {"CLUSTER_ACROSS", across}});
    return all;
  };
  const char* const kOffered = "M=4096,K=512,N=4096";
  expect_accepted({"", "y = abs(x @ w.T)", {"x=bf16[M,K]", "w=bf16[N,K]"}, {"M=300,K=320,N=190"}, kOffered}, clusters(64, 64, 1));
  if (!base::testing::in_long_part()) return;   // what follows has other factors, and more of them
  expect_accepted({"", "y = x @ w + r", {"x=f16[M,K]", "w=f16[K,N]", "r=f16[M,N]"}, {"M=131,K=200,N=392"}, kOffered}, clusters(128, 128, 0));
  expect_accepted({"", "y = gelu(x @ w.T + b)", {"x=bf16[B,M,K]", "w=bf16[N,K]", "b=bf16[N]"}, {"B=3,M=70,K=72,N=67"}, "B=1,M=4096,K=512,N=4096"}, clusters(64, 128, 1));
  expect_accepted({"", "y = silu(x @ g) * (x @ u)", {"x=bf16[M,K]", "g=bf16[K,N]", "u=bf16[K,N]"}, {"M=140,K=72,N=136"}, kOffered}, clusters(64, 128, 1));
}
TEST(GpuMatmulTensors, AreAcceptedInClusters) { expect_clusters_accepted(); }
TEST(LongGpuMatmulTensors, AreAcceptedInClusters) { expect_clusters_accepted(); }

/// A depth split between blocks: parts of unequal numbers of steps, of batches, in clusters.
void expect_split_accepted() {
  const auto split = [](int64_t rows, int64_t columns, int64_t turns, int64_t down, int64_t across, int64_t waves) {
    return kernel::Config{{"ROWS", rows}, {"COLUMNS", columns}, {"TURNS", turns}, {"AHEAD", 2}, {"STAGES", 3}, {"GROUP", 4}, {"CLUSTER_DOWN", down}, {"CLUSTER_ACROSS", across}, {"WAVES", waves}};
  };
  const std::string kAction = "wgmma, factors by the copy engine, the depth split between blocks";
  expect_accepted({"", "y = gelu(x @ w.T + b) + r", {"x=bf16[M,K]", "w=bf16[N,K]", "b=bf16[N]", "r=bf16[M,N]"}, {"M=20,K=1640,N=136"}, "M=48,K=16384,N=1024"},
                  {split(64, 64, 1, 1, 1, 2), split(64, 128, 1, 1, 2, 4)}, kAction);
  expect_accepted({"", "y = x @ w", {"x=f16[B,M,K]", "w=f16[B,K,N]"}, {"B=2,M=70,K=1096,N=72"}, "B=2,M=48,K=16384,N=1024"}, {split(128, 128, 0, 2, 1, 2)}, kAction);
}
TEST(LongGpuMatmulTensors, AreAcceptedOfASplitDepth) { expect_split_accepted(); }

/// What else is read, a turn ahead: as words and, where lines begin anywhere, element by element.
void expect_reads_ahead() {
  const auto expect = [](const char* sizes, const kernel::Config& config) {
    expect_accepted({"", "y = x @ w.T + b + r", {"x=bf16[M,K]", "w=bf16[N,K]", "b=bf16[N]", "r=bf16[M,N]"}, {sizes}, "M=4096,K=512,N=4096"}, {config});
  };
  expect("M=150,K=72,N=136", {{"ROWS", 128}, {"COLUMNS", 128}, {"TURNS", 1}, {"AHEAD", 4}, {"STAGES", 3}, {"GROUP", 8}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}});
  expect("M=90,K=72,N=75", {{"ROWS", 128}, {"COLUMNS", 64}, {"TURNS", 0}, {"AHEAD", 1}, {"STAGES", 3}, {"GROUP", 8}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}});
}
TEST(GpuMatmulTensors, ReadATurnAhead) { expect_reads_ahead(); }
TEST(LongGpuMatmulTensors, ReadATurnAhead) { expect_reads_ahead(); }

void expect_three_accepted() {
  const auto tile = [](int64_t left, int64_t right, int64_t stages) {
    return kernel::Config{{"LEFT", left}, {"RIGHT", right}, {"DEPTH", 32}, {"STAGES", stages}, {"LEVELS", 1}, {"BLOCKS", 1}, {"GROUP", 4}, {"TURNS", 0}};
  };
  expect_accepted({"", "y = x @ w.T", {"x=f32[M,K]", "w=f32[N,K]"}, {"M=130,K=70,N=200"}, "M=2048,K=1024,N=300"}, {tile(64, 96, 4), tile(128, 160, 3)});
  if (base::testing::in_long_part())
    expect_accepted({"", "y = x @ w", {"x=f32[M,K]", "w=f32[K,N]"}, {"M=130,K=70,N=200"}, "M=2048,K=1024,N=300"}, {tile(64, 192, 3), tile(128, 48, 4)});
}
TEST(GpuMatmulThree, AreAcceptedInTilesOfAnySize) { expect_three_accepted(); }
TEST(LongGpuMatmulThree, AreAcceptedInTilesOfAnySize) { expect_three_accepted(); }

void expect_pairs_accepted() {
  if (base::testing::in_long_part())
    expect_accepted({"", "h = x @ w.T; y = silu(h[:, :N]) * h[:, N:]", {"x=bf16[M,K]", "w=bf16[2*N,K]"}, {"M=140,K=136,N=200"}, "M=4096,K=512,N=4096"},
                  {{{"ROWS", 128}, {"COLUMNS", 256}, {"TURNS", 0}, {"AHEAD", 1}, {"STAGES", 3}, {"GROUP", 1}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}}});
  expect_accepted({"", "y = gelu(x @ g + b) * (x @ u) + x[:, :1]", {"x=f16[M,K]", "g=f16[K,N]", "u=f16[K,N]", "b=f16[N]"}, {"M=140,K=72,N=72"},
                   "M=4096,K=512,N=4096"},
                  {{{"ROWS", 64}, {"COLUMNS", 128}, {"TURNS", 1}, {"AHEAD", 2}, {"STAGES", 3}, {"GROUP", 4}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}}});
  expect_accepted({"", "y = silu(x @ g) * (x @ u)", {"x=bf16[M,K]", "g=bf16[K,N]", "u=bf16[K,N]"}, {"M=70,K=45,N=75"}, "M=4096,K=1023,N=2047"},
                  {{{"ROWS", 64}, {"COLUMNS", 128}, {"TURNS", 1}, {"AHEAD", 2}, {"STAGES", 3}, {"GROUP", 4}, {"CLUSTER_DOWN", 1}, {"CLUSTER_ACROSS", 1}}});
}
TEST(GpuMatmulPairs, AreAcceptedOfFactorsReadEitherWay) { expect_pairs_accepted(); }
TEST(LongGpuMatmulPairs, AreAcceptedOfFactorsReadEitherWay) { expect_pairs_accepted(); }

/// Patches of all shapes that are offered, warps beside each other and warps that share the depth, and a depth split between blocks.
void expect_patches_accepted() {
  const auto toolchain = emulator();
  if (!toolchain) GTEST_SKIP() << "no emulator";
  const auto expect = [&](const std::string& compute, const std::vector<std::string>& inputs, const std::string& large, const std::string& small,
                          const std::vector<kernel::Config>& configs) {
    std::vector<std::string> why_not;
    kernel::Kernel kernel = gpu_computed_offers(task::task_from_expressions(compute, inputs, {large}).value(), Language::kCuda, why_not).front().kernel;
    for (size_t i = 0; i < configs.size(); ++i) {
      if (!base::testing::takes_item(i, configs.size())) continue;
      for (const auto& [name, value] : configs[i]) kernel.config[name] = value;
      const auto verdict = verdict_of(task::task_from_expressions(compute, inputs, {small}).value(), kernel, toolchain);
      EXPECT_TRUE(verdict.accepted()) << fmt::format("{}", fmt::join(kernel.config | std::views::values, " ")) << ": " << verdict.reason << "\n" << verdict.detail;
    }
  };
  expect("y = abs(x @ (f16(w).reshape(N, G, 32) * s.unsqueeze(2)).reshape(N, G * 32).T)", {"x=f16[M,G*32]", "w=i8[N,G*32]", "s=f16[N,G]"},
         "M=8,G=128,N=4096", "M=21,G=9,N=83",
         {{{"LINES", 2}, {"FEW", 8}, {"ACROSS", 1}, {"DEEP", 2}, {"STAGES", 2}}, {{"LINES", 4}, {"FEW", 32}, {"ACROSS", 2}, {"DEEP", 1}, {"STAGES", 4}}});
  // A depth at which what the units cut shows, in sums that are scaled.
  expect("y = (f32(x).reshape(M, G, 128) * a.unsqueeze(2)).reshape(M, G * 128) @ (f32(w).reshape(N, G, 128) * b.unsqueeze(2)).reshape(N, G * 128).T",
         {"x=f8e4m3[M,G*128]", "w=f8e4m3[N,G*128]", "a=f32[M,G]", "b=f32[N,G]"}, "M=1024,G=16,N=4096", "M=9,G=16,N=20",
         {{{"LINES", 2}, {"FEW", 16}, {"ACROSS", 1}, {"DEEP", 2}, {"STAGES", 2}}});
  // Of few tiles.
  expect("y = x @ (bf16(w).reshape(G, 32, N) * s.unsqueeze(1)).reshape(G * 32, N)", {"x=bf16[M,G*32]", "w=i8[G*32,N]", "s=bf16[G,N]"}, "M=8,G=128,N=512",
         "M=5,G=40,N=48", {{{"LINES", 8}, {"FEW", 8}, {"ACROSS", 1}, {"DEEP", 2}, {"STAGES", 3}}, {{"LINES", 4}, {"FEW", 16}, {"ACROSS", 2}, {"DEEP", 4}, {"STAGES", 2}}});
}
TEST(GpuMatmulPatches, AreAcceptedHoweverTheWorkIsShared) { expect_patches_accepted(); }
TEST(LongGpuMatmulPatches, AreAcceptedHoweverTheWorkIsShared) { expect_patches_accepted(); }

/// The first offer on matrix units that splits as `math` does, with `math` in its place.
kernel::Kernel with_math(const task::Task& task, const std::string& math) {
  const std::string family = math.substr(0, math.find('<') + 1);
  for (const Offer& offer : gpu_matmul_offers(task, Language::kCuda)) {
    std::string source = offer.kernel.source;
    const size_t at = source.find("hone::gpu::" + family);
    if (at == std::string::npos) continue;
    source.replace(source.find(family, at), math.size(), math);
    kernel::Kernel kernel = kernel::parse_kernel(source, "matmul.cu").value();
    make_small(kernel, false);
    return kernel;
  }
  ADD_FAILURE() << "no offer with " << family;
  return {};
}

void expect_accuracy_of_splits() {
  const auto toolchain = emulator();
  if (!toolchain) GTEST_SKIP() << "no emulator";
  const task::Task task = task::task_from_expressions("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, {"M=33,K=260,N=20"}).value();
  constexpr double kUnit = 0x1p-24;
  // What hone/gpu/matmul_mma.h says that splitting costs, beside what a sum in fp32 has on the same numbers.
  for (const auto& [math, most] : {std::pair{"Tf32<2>", 12.0}, std::pair{"Bf16<3>", 6.0}}) {
    if (!base::testing::in_long_part() && math != std::string("Tf32<2>")) continue;
    const auto verdict = verdict_of(task, with_math(task, math), toolchain);
    ASSERT_TRUE(verdict.accepted()) << math << ": " << verdict.reason;
    ASSERT_TRUE(verdict.accuracy);
    const evaluate::Accuracy& nearest = *verdict.accuracy;
    fmt::print("{}: {:.2f} of the bound {:.2f} (units of 2^-24; a sum in fp32 has {:.2f}), {} on {}\n", math, nearest.candidate / kUnit,
               nearest.bound / kUnit, nearest.anchor / kUnit, nearest.family, nearest.shape);
    EXPECT_LE(nearest.candidate, most * kUnit + nearest.anchor) << math;
  }
  for (const char* math : {"Tf32<1>", "Bf16<1>", "Bf16<2>"}) {
    if (!base::testing::in_long_part() && math != std::string("Tf32<1>")) continue;
    const auto verdict = verdict_of(task, with_math(task, math), toolchain);
    EXPECT_EQ(verdict.kind, evaluate::VerdictKind::kLessAccurate) << math << ": " << verdict.reason;
  }
}

TEST(GpuMatmulAccuracy, SplitProductsHoldTheStrictTrackAndSingleOnesDoNot) { expect_accuracy_of_splits(); }
TEST(LongGpuMatmulAccuracy, SplitProductsHoldTheStrictTrackAndSingleOnesDoNot) { expect_accuracy_of_splits(); }

void expect_accuracy_of_groups() {
  const auto toolchain = emulator();
  if (!toolchain) GTEST_SKIP() << "no emulator";
  const std::vector<std::string> factors = {"A=f32[M,K]", "B=f32[K,N]"};
  const task::Task task = task::task_from_expressions("C = A @ B", factors, {"M=33,K=1060,N=20"}).value();
  constexpr double kUnit = 0x1p-24;
  for (const bool deep : {false, true}) {
    const task::Task large = task::task_from_expressions("C = A @ B", factors, {deep ? "M=4096,K=4096,N=4096" : "M=4096,K=512,N=4096"}).value();
    kernel::Kernel kernel = gpu_matmul_offers(large, Language::kCuda).front().kernel;
    EXPECT_EQ(kernel.config.at("LEVELS"), deep ? 2 : 1);
    make_small(kernel, false);
    const auto verdict = verdict_of(task, kernel, toolchain);
    ASSERT_TRUE(verdict.accepted()) << verdict.reason;
    ASSERT_TRUE(verdict.accuracy);
    const evaluate::Accuracy& nearest = *verdict.accuracy;
    fmt::print("{} levels: {:.2f} of the bound {:.2f} (units of 2^-24; a sum in fp32 has {:.2f}), {} on {}\n", deep ? 2 : 1,
               nearest.candidate / kUnit, nearest.bound / kUnit, nearest.anchor / kUnit, nearest.family, nearest.shape);
    EXPECT_LE(nearest.candidate, 6 * kUnit + nearest.anchor);
  }
}

TEST(LongGpuMatmulAccuracy, GroupsOfWarpsHoldTheStrictTrack) { expect_accuracy_of_groups(); }

}  // namespace
}  // namespace hone::pattern::gpu_matmul_slow_cases
