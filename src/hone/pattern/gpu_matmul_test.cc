#include "hone/pattern/gpu_matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/pattern/gpu_offers_testing.h"
#include "hone/target/simt_device.h"

namespace hone::pattern::gpu_matmul_cases {
namespace {

using kernel::Language;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

kernel::BoundPlan bound(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, Language language) {
  const auto plan = kernel::bind(kernel, task, bindings, target::simt_limits(*target::simt_device(language)));
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().to_string());
  return plan ? *plan : kernel::BoundPlan{};
}

constexpr char kTf32x3[] = "matrix units, three products of TF32 parts";
constexpr char kDirect[] = "wgmma, TF32, factors as they lie";
constexpr char kThree[] = "wgmma, three products of TF32, factors as they lie";
constexpr char kGroups[] = "wgmma, six products of bf16 parts";
constexpr char kBf16x6[] = "matrix units, six products of bf16 parts";

TEST(GpuMatmul, MatrixUnitsComeFirstOnCudaAndAreAbsentOnHip) {
  const task::Task task = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=512,K=512,N=512");
  EXPECT_THAT(actions(gpu_matmul_offers(task, Language::kCuda)), ElementsAre(kThree, kTf32x3, kBf16x6, "tile in registers"));
  const auto hip = gpu_matmul_offers(task, Language::kHip);
  EXPECT_THAT(actions(hip), ElementsAre("tile in registers"));
  EXPECT_EQ(hip[0].kernel.header.language, Language::kHip);
  EXPECT_THAT(hip[0].kernel.source, Not(HasSubstr("prim")));
}

TEST(GpuMatmul, GroupsComeFirstWhereTheProductIsLarge) {
  const std::vector<std::string> factors = {"A=f32[M,K]", "B=f32[K,N]"};
  const std::string large = "M=4096,K=512,N=4096";
  const task::Task task = task_of("C = A @ B", factors, large);
  const auto offers = gpu_matmul_offers(task, Language::kCuda);
  EXPECT_THAT(actions(offers), ElementsAre(kGroups, kThree, kTf32x3, kBf16x6, "tile in registers"));
  const auto plan = bound(offers[0].kernel, task, {{"M", 300}, {"K", 100}, {"N", 1000}}, Language::kCuda);
  ASSERT_EQ(plan.launches.size(), 3u);
  EXPECT_THAT(plan.launches[0].grid, ElementsAre(6 * 4));   // 384 rows in 64, 128 of the depth in 32
  EXPECT_THAT(plan.launches[1].grid, ElementsAre(16 * 4));
  EXPECT_THAT(plan.launches[2].grid, ElementsAre(3 * 4));
  EXPECT_THAT(plan.launches[2].block, ElementsAre(384));
  EXPECT_THAT(actions(gpu_matmul_offers(task, Language::kHip)), Not(Contains(kGroups)));
  EXPECT_THAT(actions(gpu_matmul_offers(task_of("C = A @ B", factors, "M=4096,K=64,N=4096"), Language::kCuda)), Not(Contains(kGroups)));
  EXPECT_THAT(actions(gpu_matmul_offers(task_of("C = A @ B", factors, "M=4096,K=512,N=8"), Language::kCuda)), Not(Contains(kGroups)));
}

TEST(GpuMatmul, AGateAndWhatItLetsThroughAreOneLaunch) {
  const std::string sizes = "M=4096,K=512,N=4096";
  const auto offered = [&](const std::string& compute, const std::vector<std::string>& inputs) { return actions(gpu_matmul_offers(task_of(compute, inputs, sizes), Language::kCuda)); };
  const std::string pair = "wgmma, a pair of products, factors by the copy engine";
  EXPECT_THAT(offered("y = silu(x @ g) * (x @ u)", {"x=bf16[M,K]", "g=bf16[K,N]", "u=bf16[K,N]"}), ElementsAre(pair));
  EXPECT_THAT(offered("y = silu(linear(x, g, a)) * linear(x, u, b)", {"x=f16[M,K]", "g=f16[N,K]", "u=f16[N,K]", "a=f16[N]", "b=f16[N]"}), ElementsAre(pair));
  EXPECT_THAT(offered("a, b = chunk(linear(x, w, c), 2, axis=-1); y = a * gelu(b)", {"x=bf16[M,K]", "w=bf16[2*N,K]", "c=bf16[2*N]"}), ElementsAre(pair));
  EXPECT_THAT(offered("h = x @ w; y = h[:, N:] - h[:, :N]", {"x=bf16[M,K]", "w=bf16[K,2*N]"}), ElementsAre(pair));
  // Two left factors, three slices, factors that are read differently, a reduction beside them.
  EXPECT_THAT(offered("y = (x @ g) * (z @ u)", {"x=bf16[M,K]", "z=bf16[M,K]", "g=bf16[K,N]", "u=bf16[K,N]"}), IsEmpty());
  EXPECT_THAT(offered("h = x @ w; y = h[:, :N] * h[:, N:2*N] + h[:, 2*N:]", {"x=bf16[M,K]", "w=bf16[K,3*N]"}), IsEmpty());
  EXPECT_THAT(offered("y = (x @ g) * (x @ u.T)", {"x=bf16[M,K]", "g=bf16[K,N]", "u=bf16[N,K]"}), IsEmpty());
  EXPECT_THAT(offered("y = softmax(x @ g, axis=-1) * (x @ u)", {"x=bf16[M,K]", "g=bf16[K,N]", "u=bf16[K,N]"}), IsEmpty());
}

/// However it is written, it comes in one launch, in words of 16 bytes where the shapes allow it, before what stores the factor.
TEST(GpuMatmul, FactorsOfFewBitsAreComputedOnTheirWay) {
  const auto offered = [&](const std::string& compute, const std::vector<std::string>& inputs, Language language = Language::kCuda) {
    std::vector<std::string> why_not;
    const bool groups = compute.find('G') != std::string::npos;
    return gpu_computed_offers(task_of(compute, inputs, groups ? "M=16,G=32,S=128,N=4096" : "M=16,S=4096,N=4096"), language, why_not);
  };
  const std::string computed = "a factor computed on its way", split = computed + ", the depth split between blocks";
  const std::string bytes = "y = x @ (f16(w).reshape(N, G, S) * s.unsqueeze(2)).reshape(N, G * S).T";
  const std::vector<std::string> of_bytes = {"x=f16[M,G*S]", "w=i8[N,G*S]", "s=f16[N,G]"};
  EXPECT_THAT(actions(offered(bytes, of_bytes)), ElementsAre(computed));
  EXPECT_THAT(offered(bytes, of_bytes).front().kernel.source, HasSubstr("hone::gpu::Words<int8_t, RUN> w"));
  EXPECT_THAT(offered(bytes, of_bytes, Language::kHip), IsEmpty());
  // Two nibbles in a byte, the lower one first: 32 depths in a word.
  const auto nibbles = offered("q = stack([w % 16, w // 16 % 16], axis=2).reshape(N, G, S); y = x @ (f16(q) * s.unsqueeze(2)).reshape(N, G * S).T",
                               {"x=f16[M,G*S]", "w=i8[N,G*S//2]", "s=f16[N,G]"});
  EXPECT_THAT(nibbles.front().kernel.source, HasSubstr("RUN = 32"));
  EXPECT_THAT(nibbles.front().kernel.source, HasSubstr("hone::gpu::Words<int8_t, RUN / 2> w"));
  // Eight columns in an i32: lines beside each other, and fewer tiles, whose depth is split.
  const auto columns = offered("by = (16 ** arange(8, dtype=i32)).reshape(1, 1, 8); w = (q.unsqueeze(2) // by % 16).reshape(G, S, N); "
                               "y = x @ (f16(w) * s.unsqueeze(1)).reshape(G * S, N)",
                               {"x=f16[M,G*S]", "q=i32[G*S,N//8]", "s=f16[G,N]"});
  EXPECT_THAT(actions(columns), ElementsAre(split, computed));
  EXPECT_THAT(columns.front().kernel.source, HasSubstr("hone::gpu::Words<int32_t, LINES / 8> w0[RUN];"));
  EXPECT_THAT(columns.front().kernel.source, HasSubstr(">> 4 * "));
  // As many bytes as it has, another type than the other factor's, more rows than pay, a reduction on the way.
  EXPECT_THAT(offered("y = x @ (w * s.unsqueeze(1)).T", {"x=f16[M,S]", "w=f16[N,S]", "s=f16[N]"}), IsEmpty());
  EXPECT_THAT(offered("y = f32(x) @ (f32(w) * s.unsqueeze(1)).T", {"x=f16[M,S]", "w=i8[N,S]", "s=f32[N]"}), IsEmpty());
  EXPECT_THAT(offered("y = x @ (f16(w) * s.unsqueeze(1)).T", {"x=f16[M*32,S]", "w=i8[N,S]", "s=f16[N]"}), IsEmpty());
  EXPECT_THAT(offered("y = x @ (f16(w) * (s / sum(s, axis=0)).unsqueeze(1)).T", {"x=f16[M,S]", "w=i8[N,S]", "s=f16[N]"}), IsEmpty());
}

/// However experts are written, their product is one launch that gathers on its way; whose weights a row takes, the tile finds out.
TEST(GpuMatmul, WhatAnIndexPicksIsPickedOnItsWay) {
  const auto task = [](const std::string& compute, const std::vector<std::string>& inputs) {
    std::vector<std::string> all = {"x=bf16[T,256]", "w=bf16[E,256,N]"};
    all.insert(all.end(), inputs.begin(), inputs.end());
    return task_of(compute, all, "T=512,E=8,N=256");
  };
  const std::vector<std::string> rows = {"r=i32[E,160]", "g=f32[E,160]"};
  for (const char* const compute : {"y = f32(bmm(x[r], w)) * g.unsqueeze(2)", "y = f32(bmm(concat([x, zeros([1, 256], bf16)], axis=0)[r], w)) * g.unsqueeze(2)"}) {
    const task::Task of = task(compute, rows);
    const auto cuda = gpu_matmul_offers(of, Language::kCuda);
    EXPECT_THAT(actions(cuda), ElementsAre("matrix units, rows picked on the way", "tile in registers, rows picked on the way")) << compute;
    EXPECT_EQ(bound(cuda.at(0).kernel, of, {{"T", 9}, {"N", 17}, {"E", 3}}, Language::kCuda).launches.size(), 1u) << compute;
    EXPECT_THAT(actions(gpu_matmul_offers(of, Language::kHip)), ElementsAre("tile in registers, rows picked on the way"));
  }
  struct Form {
    const char *compute, *index;
  };
  for (const auto& [compute, index] : {Form{"y = bmm(x.unsqueeze(1), w[e]).squeeze(1)", "e=i32[T]"}, Form{"y = einsum('tk,tkn->tn', x, w[e])", "e=i32[T]"},
                                       Form{"y = bmm(x[:512].reshape(32, 16, 256), w[e])", "e=i32[32]"}, Form{"y = einsum('tk,takn->tan', x, w[e])", "e=i32[T,2]"},
                                       Form{"y = einsum('tak,takn->tan', x[:512].reshape(256, 2, 256), w[e])", "e=i32[256,2]"},
                                       Form{"y = bmm(x[e // 2].unsqueeze(1), w[e % E]).squeeze(1)", "e=i32[T]"},
                                       Form{"y = bmm(x.unsqueeze(1), w[minimum(sum(i64(arange(T).unsqueeze(1) >= e), axis=1), E - 1)]).squeeze(1)", "e=i32[E]"}})
    EXPECT_THAT(actions(gpu_matmul_offers(task(compute, {index}), Language::kCuda)),
                ElementsAre("matrix units, each row by its group's factor", "tile in registers, each row by its group's factor")) << compute;
  // An index along the depth or the columns, one for each element, a choice of something computed, and zeros where infinities count.
  for (const auto& [compute, index] : {Form{"y = x[:, e] @ w[0]", "e=i32[256]"}, Form{"y = x @ w[0][:, e]", "e=i32[T]"}, Form{"y = x @ (w[0] * 2)[e]", "e=i32[256]"},
                                       Form{"y = take_along_axis(x, e, axis=1) @ w[0]", "e=i32[T,256]"}})
    EXPECT_THAT(gpu_matmul_offers(task(compute, {index}), Language::kCuda), IsEmpty()) << compute;
  // A row for each group, or fewer, goes better by loops over what it reads.
  EXPECT_THAT(gpu_matmul_offers(task("y = einsum('tk,tkn->tn', x[:8], w[e])", {"e=i32[8]"}), Language::kCuda), IsEmpty());
  task::Task strict = task("y = einsum('tk,tkn->tn', x, w[e])", {"e=i32[T]"});
  strict.nan_policy = true;
  EXPECT_THAT(gpu_matmul_offers(strict, Language::kCuda), IsEmpty());
}

/// Numbers of one byte are multiplied as they are, in one launch, where a warp's depths lie within what one scale is for.
TEST(GpuMatmul, ScalesOfBlocksAreAppliedToSums) {
  const std::string blocks = "y = bf16((f32(x).reshape(M, G, 128) * a.unsqueeze(2)).reshape(M, G * 128) @ "
                             "(f32(w).reshape(H, 128, G, 128) * b.reshape(H, 1, G, 1)).reshape(H * 128, G * 128).T)";
  const auto offered = [](const std::string& compute, const char* type, const char* scales) {
    std::vector<std::string> why_not;
    return gpu_computed_offers(task_of(compute, {fmt::format("x={}[M,G*128]", type), fmt::format("w={}[H*128,G*128]", type), "a=f32[M,G]", scales}, "M=1024,G=16,H=56"),
                               Language::kCuda, why_not);
  };
  const auto offers = offered(blocks, "f8e4m3", "b=f32[H,G]");
  EXPECT_THAT(actions(offers), ElementsAre("segments of the depth scaled as they are added up"));
  const task::Task task = task_of(blocks, {"x=f8e4m3[M,G*128]", "w=f8e4m3[H*128,G*128]", "a=f32[M,G]", "b=f32[H,G]"}, "M=1024,G=16,H=56");
  EXPECT_EQ(bound(offers[0].kernel, task, {{"M", 1024}, {"G", 16}, {"H", 56}}, Language::kCuda).launches.size(), 1u);
  EXPECT_THAT(offers[0].kernel.source, HasSubstr("patch_product<hone::f16,"));
  EXPECT_THAT(offered(blocks, "bf16", "b=f32[H,G]"), IsEmpty());
  EXPECT_THAT(offered(blocks + "; z = sum(b)", "f8e4m3", "b=f32[H,G]"), IsEmpty());
}

TEST(GpuMatmul, GroupsTakeTheNumbersOfTheTrackAndOfTheFactors) {
  const std::vector<std::string> factors = {"A=f32[M,K]", "B=f32[K,N]"};
  task::Task task = task_of("C = A @ B", factors, "M=4096,K=4096,N=4096");
  const auto first = [&](task::Track track) {
    task.track = track;
    std::vector<std::string> found;
    for (const Offer& offer : gpu_matmul_offers(task, Language::kCuda)) {
      if (!offer.action.starts_with("wgmma")) continue;
      found.push_back(offer.action);
      // Nothing is gained by sums on two levels where the units' numbers are that short.
      const auto levels = offer.kernel.config.find("LEVELS");
      if (levels != offer.kernel.config.end()) {
        EXPECT_EQ(levels->second, track == task::Track::kStrict ? 2 : 1);
      }
    }
    return found;
  };
  EXPECT_THAT(first(task::Track::kStrict), ElementsAre(kGroups, kThree));
  EXPECT_THAT(first(task::Track::kTf32), ElementsAre(kDirect, "wgmma, TF32"));
  EXPECT_THAT(first(task::Track::kF16), ElementsAre(kDirect, "wgmma, TF32"));
  EXPECT_THAT(first(task::Track::kBf16), ElementsAre("wgmma, factors by the copy engine, both written anew", "wgmma, bf16", kDirect));
  // The units read TF32 from shared memory along the depth alone, and whoever copies takes steps that are all the same.
  for (const auto& [compute, inputs] : {std::pair{"C = A.T @ B", std::vector<std::string>{"A=f32[K,M]", "B=f32[K,N]"}},
                                        {"C = einsum('mkl,nlk->mn', A, B)", std::vector<std::string>{"A=f32[M,K,2]", "B=f32[N,2,K]"}}}) {
    task = task_of(compute, inputs, "M=4096,K=4096,N=4096");
    EXPECT_THAT(first(task::Track::kTf32), ElementsAre("wgmma, TF32")) << compute;
  }
  task = task_of("C = A @ B", {"A=bf16[M,K]", "B=bf16[K,N]"}, "M=4096,K=512,N=4096");
  EXPECT_THAT(actions(gpu_matmul_offers(task, Language::kCuda)), ElementsAre("wgmma, factors by the copy engine", "wgmma", "matrix units", "tile in registers"));
  // Whose lines do not begin on 16 bytes, or lie across the depth where the units turn none, is written once more where it meets many.
  const auto engine = [&](const std::string& compute, const std::vector<std::string>& inputs, const std::string& workload) {
    std::vector<std::string> found = actions(gpu_matmul_offers(task_of(compute, inputs, workload), Language::kCuda));
    std::erase_if(found, [](const std::string& action) { return !action.starts_with("wgmma, factors by the copy engine"); });
    return found;
  };
  const std::string kEngine = "wgmma, factors by the copy engine", kLeft = kEngine + ", the left one written anew", kRight = kEngine + ", the right one written anew";
  const std::vector<std::string> halves = {"A=bf16[M,K]", "B=bf16[K,N]"}, bytes = {"A=f8e4m3[M,K]", "B=f8e4m3[K,N]"};
  EXPECT_THAT(engine("C = A @ B", halves, "M=4096,K=2045,N=4096"), ElementsAre(kLeft));
  EXPECT_THAT(engine("C = A @ B", halves, "M=4096,K=512,N=3001"), ElementsAre(kRight));
  EXPECT_THAT(engine("C = A @ B", halves, "M=4096,K=2045,N=3001"), ElementsAre(kEngine + ", both written anew"));
  EXPECT_THAT(engine("C = A @ B", halves, "M=128,K=2045,N=16384"), ElementsAre()) << "few lines for a large factor to meet";
  EXPECT_THAT(engine("C = A.T @ B", {"A=bf16[K,M]", "B=bf16[K,N]"}, "M=4096,K=512,N=4096"), ElementsAre(kLeft));
  EXPECT_THAT(engine("C = f32(A @ B)", bytes, "M=4096,K=512,N=4096"), ElementsAre(kRight));
}

/// cuDNN's default is TF32 where cuBLAS's is not, and a pointwise convolution is a product here.
TEST(GpuMatmul, AsPytorchRoundsWhatWasAConvolution) {
  const auto all = [](const char* compute, std::vector<std::string> inputs) {
    task::Task task = task_of(compute, std::move(inputs), "N=16,C=64,O=128,H=512,W=512");
    task.track = task::Track::kAsPytorch;
    return actions(gpu_matmul_offers(task, Language::kCuda));
  };
  EXPECT_EQ(all("y = conv2d(x, w)", {"x=f32[N,C,H,W]", "w=f32[O,C,1,1]"}).front(), std::string(kDirect) + ", blocks share multiprocessors");
  EXPECT_EQ(all("y = einsum('oc,nchw->nohw', w, x)", {"x=f32[N,C,H,W]", "w=f32[O,C]"}).front(), kThree);
}

/// A short depth: two small blocks on a multiprocessor, after the kernels that need no launch before them. Where factors are as much
/// as the result, none.
TEST(GpuMatmul, ShortSumsShareMultiprocessors) {
  const task::Task task = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=32768,K=64,N=32768");
  const auto offers = gpu_matmul_offers(task, Language::kCuda);
  EXPECT_EQ(offers.front().action, kThree);
  EXPECT_EQ(offers.back().action, std::string(kGroups) + ", blocks share multiprocessors");
  const kernel::Kernel& kernel = offers.back().kernel;
  EXPECT_EQ(kernel.config.at("BLOCKS"), 2);
  const kernel::Limits limits = target::simt_limits(*target::simt_device(Language::kCuda));
  EXPECT_TRUE(kernel::allowed(kernel.header, kernel.config, limits).value());
  const auto plan = bound(kernel, task, task.workloads[0].bindings, Language::kCuda);
  EXPECT_LE(plan.launches.back().shared + 1024, 227 * 1024 / 2);
  // So many sums a thread that two blocks have no registers for them.
  kernel::Config large = kernel.config;
  large["ROWS"] = 128;
  EXPECT_FALSE(kernel::allowed(kernel.header, large, limits).value());
  const task::Task small = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=1024,K=64,N=1024");
  for (const Offer& offer : gpu_matmul_offers(small, Language::kCuda)) EXPECT_THAT(offer.action, Not(HasSubstr(kGroups)));
}

TEST(GpuMatmul, WideLoadsWhereStridesAllow) {
  const task::Task task = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=512,K=512,N=512");
  for (const Offer& offer : gpu_matmul_offers(task, Language::kCuda)) {
    const auto launched = [&](int64_t m, int64_t k, int64_t n) {
      const auto plan = bound(offer.kernel, task, {{"M", m}, {"K", k}, {"N", n}}, Language::kCuda);
      return plan.launches.size() == 1 ? plan.launches[0].function : "several";
    };
    // Of factors as they lie each is read as wide as it can be: the left one there is B.
    const bool each = offer.action == kThree;
    EXPECT_EQ(launched(7, 8, 12), each ? "multiply_wide_wide" : "multiply_wide");
    EXPECT_EQ(launched(8, 9, 12), each ? "multiply_wide_any" : "multiply_any");
    EXPECT_EQ(launched(8, 8, 13), each ? "multiply_any_wide" : "multiply_any");
    EXPECT_EQ(launched(8, 9, 13), each ? "multiply_any_any" : "multiply_any");
  }
}

TEST(GpuMatmul, AnExtentThatIsNeverWideNeedsNoSecondKernel) {
  const task::Task odd = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,63]"}, "M=64,K=64");
  EXPECT_THAT(gpu_matmul_offers(odd, Language::kHip).back().kernel.source, Not(HasSubstr("multiply_wide")));
  const task::Task even = task_of("C = A @ B", {"A=f32[M,96]", "B=f32[96,64]"}, "M=64");
  EXPECT_THAT(gpu_matmul_offers(even, Language::kHip).back().kernel.source, Not(HasSubstr("multiply_any")));
}

TEST(GpuMatmul, TransposedFactorsAreReadInPlace) {
  const task::Task task = task_of("C = A.T @ B.T", {"A=f32[K,M]", "B=f32[N,K]"}, "M=512,K=512,N=512");
  const auto offers = gpu_matmul_offers(task, Language::kCuda);
  EXPECT_THAT(offers[0].kernel.source, AllOf(HasSubstr("factor<V_LEFT, false>"), HasSubstr("factor<V_RIGHT, true>"), HasSubstr("return depth_at * M;")));
  const std::string source = offers[1].kernel.source;
  EXPECT_THAT(source, HasSubstr("factor<V_A, false>"));
  EXPECT_THAT(source, HasSubstr("return depth_at * M;"));
  EXPECT_THAT(source, HasSubstr("factor<V_B, true>"));
  EXPECT_THAT(source, HasSubstr("M % 4 == 0 and K % 4 == 0"));
}

TEST(GpuMatmul, LongDepthAndFewTilesAreSplit) {
  const task::Task task = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=256,K=131072,N=256");
  const auto offers = gpu_matmul_offers(task, Language::kCuda);
  const std::string split = ", the depth split between blocks";
  EXPECT_EQ(offers[0].action, kGroups + split);
  EXPECT_EQ(offers[1].action, kThree + split);
  EXPECT_EQ(offers[2].action, kThree);
  EXPECT_EQ(offers[3].action, kTf32x3 + split);
  EXPECT_EQ(offers[4].action, kTf32x3);
  for (const Offer& offer : {offers[0], offers[3]}) {
    const auto plan = bound(offer.kernel, task, task.workloads[0].bindings, Language::kCuda);
    ASSERT_EQ(plan.launches.size(), offer.action == kGroups + split ? 4u : 2u);
    EXPECT_THAT(plan.launches[plan.launches.size() - 2].grid, ElementsAre(4, 33));  // 4 tiles on 132 multiprocessors
    EXPECT_EQ(plan.launches.back().function, "add_up");
    EXPECT_THAT(plan.workspaces[plan.workspaces.size() / 2].shape, ElementsAre(33, 256, 256));  // by name: left, parts, right
  }
  // A short depth is not split.
  EXPECT_THAT(bound(offers[3].kernel, task, {{"M", 256}, {"K", 100}, {"N", 256}}, Language::kCuda).launches[0].grid, ElementsAre(4, 1));
  // Where a tile of groups would be half empty, factors as they lie.
  const task::Task narrow = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=64,K=131072,N=256");
  EXPECT_EQ(gpu_matmul_offers(narrow, Language::kCuda)[0].action, kThree + split);
}

TEST(GpuMatmul, BatchesAndEpilogues) {
  const task::Task task =
      task_of("y = relu(x @ w + b) * s", {"x=f32[B,T,D]", "w=f32[D,F]", "b=f32[F]", "s=f32[B,1,1]"}, "B=8,T=64,D=512,F=512");
  const auto offers = gpu_matmul_offers(task, Language::kCuda);
  ASSERT_FALSE(offers.empty());
  const std::string& source = offers[0].kernel.source;
  EXPECT_THAT(source, HasSubstr("hone::gpu::max"));
  EXPECT_THAT(source, HasSubstr("y[line_at * F + column_at]"));
  const task::Task bmm = task_of("y = x @ w", {"x=f32[B,T,D]", "w=f32[B,D,F]"}, "B=8,T=64,D=512,F=512");
  const auto plan = bound(gpu_matmul_offers(bmm, Language::kHip)[0].kernel, bmm, bmm.workloads[0].bindings, Language::kHip);
  EXPECT_THAT(plan.launches[0].grid, ElementsAre(8 * 8));   // 64 x 64: of 128 x 128 half would be empty
}

TEST(GpuMatmul, TilesAreSmallerWhereMultiprocessorsWouldBeIdle) {
  const auto tiles = [](const char* sizes) {
    const task::Task task = task_of("y = x @ w", {"x=f32[M,K]", "w=f32[K,N]"}, sizes);
    const kernel::Header header = gpu_matmul_offers(task, Language::kHip)[0].kernel.header;
    const auto first = [&](const char* name) { return std::ranges::find(header.tunables, name, &kernel::Tunable::name)->values.front(); };
    return std::pair(first("ROWS"), first("COLUMNS"));
  };
  EXPECT_EQ(tiles("M=4096,K=256,N=4096"), (std::pair<int64_t, int64_t>(128, 128)));
  EXPECT_EQ(tiles("M=2048,K=256,N=300"), (std::pair<int64_t, int64_t>(128, 64)));
}

/// Of three products tiles fit what there is: no half of one is empty where another size would be full, and what a choice asks for is there.
TEST(GpuMatmul, TilesOfThreeProductsFitTheExtents) {
  const kernel::Limits limits = target::simt_limits(*target::simt_device(Language::kCuda));
  const auto right_of = [&](const std::string& sizes, int64_t lines) {
    const task::Task task = task_of("y = x @ w", {"x=f32[E,M,K]", "w=f32[E,K,N]"}, sizes);
    const auto offers = gpu_matmul_offers(task, Language::kCuda);
    const auto offer = std::ranges::find(offers, kThree, &Offer::action);
    EXPECT_NE(offer, offers.end()) << sizes;
    EXPECT_TRUE(kernel::allowed(offer->kernel.header, offer->kernel.config, limits).value()) << sizes;
    const int64_t right = offer->kernel.config.at("RIGHT");
    return static_cast<double>(lines) / static_cast<double>((lines + right - 1) / right * right);
  };
  for (const int64_t lines : {33, 48, 90, 145, 150, 185, 300, 1000})
    for (const char* rest : {"E=16,N=2048,K=1000", "E=1,N=4096,K=2048", "E=56,N=128,K=128", "E=3,N=700,K=64"})
      EXPECT_GE(right_of(fmt::format("{},M={}", rest, lines), lines), 0.62) << rest << ",M=" << lines;
}

/// Tiles for the copy engine are those of fewest turns, weighed: what was fastest on an H200 (results/h200/2026-11-28-launches.md).
TEST(GpuMatmul, TilesForTheCopyEngineAreThoseOfFewestTurns) {
  const auto tile_of = [](const char* compute, const std::vector<std::string>& inputs, const char* sizes) {
    const task::Task task = task_of(compute, inputs, sizes);
    const kernel::Kernel kernel = gpu_matmul_offers(task, Language::kCuda).front().kernel;
    EXPECT_TRUE(kernel::allowed(kernel.header, kernel.config, target::simt_limits(*target::simt_device(Language::kCuda))).value()) << sizes;
    return std::vector<int64_t>{kernel.config.at("ROWS"), kernel.config.at("COLUMNS"), kernel.config.at("TURNS"), kernel.config.at("AHEAD")};
  };
  const std::string x = "x=bf16[M,K]", w = "w=bf16[N,K]", b = "b=bf16[N]", r = "r=bf16[M,N]";
  EXPECT_THAT(tile_of("y = gelu(x @ w.T + b)", {x, w, b}, "M=1024,K=768,N=3072"), ElementsAre(128, 192, 0, 2));
  EXPECT_THAT(tile_of("y = x @ w.T + b + r", {x, w, b, r}, "M=1024,K=3072,N=768"), ElementsAre(64, 128, 1, 2));
  EXPECT_THAT(tile_of("y = x @ w.T + r", {x, w, r}, "M=57855,K=1024,N=720"), ElementsAre(128, 128, 1, 4));
  EXPECT_THAT(tile_of("y = x @ w.T", {x, w}, "M=4096,K=4096,N=4096"), ElementsAre(128, 128, 1, 2));
  EXPECT_THAT(tile_of("y = x @ w.mT", {"x=bf16[E,M,K]", "w=bf16[E,N,K]"}, "E=56,M=197,K=128,N=200"), ElementsAre(128, 256, 0, 2));
  EXPECT_THAT(tile_of("h = x @ w.T; y = silu(h[:, :N]) * h[:, N:]", {"x=bf16[M,K]", "w=bf16[2*N,K]"}, "M=4096,K=512,N=4096"), ElementsAre(128, 128, 1, 2));
  const std::vector<int64_t> bytes = tile_of("y = f32(x) @ f32(w).T", {"x=f8e4m3[M,K]", "w=f8e4m3[N,K]"}, "M=4096,K=4096,N=4096");
  EXPECT_LE(bytes[0] * bytes[1] * (1 + bytes[2]), 16384);   // two sets of sums
}

/// Clusters divide the grid, whatever the number of tiles, and are as many as a card holds at a time; blocks alone come first.
TEST(GpuMatmul, ClustersOfTilesForTheCopyEngineDivideTheGrid) {
  const task::Task task = task_of("y = x @ w.mT", {"x=bf16[B,M,K]", "w=bf16[B,N,K]"}, "B=1,M=4096,K=4096,N=4096");
  kernel::Kernel kernel = gpu_matmul_offers(task, Language::kCuda).front().kernel;
  EXPECT_EQ(kernel.config.at("CLUSTER_DOWN"), 1);
  EXPECT_EQ(kernel.config.at("CLUSTER_ACROSS"), 1);
  const auto blocks_of = [&](int64_t down, int64_t across, int64_t batches, int64_t rows, int64_t columns) {
    kernel.config["ROWS"] = kernel.config["COLUMNS"] = 128, kernel.config["CLUSTER_DOWN"] = down, kernel.config["CLUSTER_ACROSS"] = across;
    const auto launch = bound(kernel, task, {{"B", batches}, {"M", rows}, {"N", columns}, {"K", 64}}, Language::kCuda).launches.back();
    EXPECT_THAT(launch.cluster, ElementsAre(down * across));
    return launch.grid.at(0);
  };
  const int64_t sms = target::simt_limits(*target::simt_device(Language::kCuda)).at("SMS");
  ASSERT_EQ(sms, 132);
  EXPECT_EQ(blocks_of(1, 1, 1, 4096, 4096), 132);
  EXPECT_EQ(blocks_of(2, 1, 1, 4096, 4096), 132);
  EXPECT_EQ(blocks_of(1, 1, 1, 300, 500), 3 * 4);
  EXPECT_EQ(blocks_of(2, 1, 1, 300, 500), 4 * 4);
  EXPECT_EQ(blocks_of(1, 2, 1, 300, 500), 3 * 4);
  EXPECT_EQ(blocks_of(2, 1, 5, 300, 500), 5 * 4 * 4);
}

/// They are tried where the model has them faster: not where the second block of a cluster would have nothing to do.
TEST(GpuMatmul, ClustersAreTriedWhereTilesHaveSomethingInCommon) {
  const auto tried = [](const char* sizes) {
    const kernel::Header header = gpu_matmul_offers(task_of("y = x @ w.T", {"x=bf16[M,K]", "w=bf16[N,K]"}, sizes), Language::kCuda).front().kernel.header;
    const auto values = [&](const char* name) { return std::ranges::find(header.tunables, name, &kernel::Tunable::name)->values.size(); };
    return std::pair(values("CLUSTER_DOWN"), values("CLUSTER_ACROSS"));
  };
  EXPECT_EQ(tried("M=4096,K=4096,N=4096"), (std::pair<size_t, size_t>(2, 2)));
  EXPECT_EQ(tried("M=64,K=4096,N=16384").first, 1);
  EXPECT_EQ(tried("M=16384,K=4096,N=64").second, 1);
}

TEST(GpuMatmul, ALongDepthOfFewTilesIsSplitForTheCopyEngine) {
  const auto task_with = [](const char* sizes) { return task_of("y = x @ w.T", {"x=bf16[M,K]", "w=bf16[N,K]"}, sizes); };
  const std::string kAction = "wgmma, factors by the copy engine, the depth split between blocks";
  const task::Task task = task_with("M=32,K=8192,N=4096");
  const auto offers = gpu_matmul_offers(task, Language::kCuda);
  ASSERT_THAT(actions(offers), ElementsAre(kAction, "matrix units, the depth split between blocks", "matrix units", "tile in registers, the depth split between blocks", "tile in registers"));
  kernel::Kernel kernel = offers[0].kernel;
  kernel.config["COLUMNS"] = 128, kernel.config["WAVES"] = 2;
  EXPECT_EQ(kernel.config.at("ROWS"), 64);   // of 128 three quarters would be empty
  const auto plan = bound(kernel, task, task.workloads[0].bindings, Language::kCuda);
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_THAT(plan.launches[0].grid, ElementsAre(132));   // 32 tiles in 8 parts each: two for most blocks
  EXPECT_THAT(plan.launches[1].grid, ElementsAre(32 * 4096 / 256));
  for (const char* sizes : {"M=4,K=8192,N=4096", "M=32,K=8191,N=4096", "M=32,K=1024,N=4096", "M=4096,K=8192,N=4096"})
    EXPECT_THAT(actions(gpu_matmul_offers(task_with(sizes), Language::kCuda)), Not(Contains(kAction))) << sizes;
}

TEST(GpuMatmul, TrianglesAreLeftOut) {
  const auto source = [](task::Structure structure, const char* compute, const char* action) {
    task::Task task = task_of(compute, {"A=f32[N,N]", "B=f32[N,N]"}, "N=512");
    for (task::InputSpec& input : task.inputs) input.structure = structure;
    task = task::parse_task(task.to_toml(), "test").value();
    const auto offers = gpu_matmul_offers(task, Language::kCuda);
    const auto offer = std::ranges::find(offers, action, &Offer::action);
    return offer == offers.end() ? "" : offer->kernel.source;
  };
  const auto upper_of = [&](const char* action) { return source(task::Structure::kTriu, "C = triu(A @ B)", action); };
  // The left factor of three products is B here.
  EXPECT_THAT(upper_of(kThree), AllOf(HasSubstr("clip<DEPTH>(first_right_at, segment_at.end)"), HasSubstr("clip<DEPTH>(0, first_left_at + LEFT)")));
  const std::string upper = upper_of(kTf32x3), lower = source(task::Structure::kTril, "C = A @ B", kTf32x3);
  EXPECT_THAT(upper, HasSubstr("clip<DEPTH>(row_at, segment_at.end)"));
  EXPECT_THAT(upper, HasSubstr("clip<DEPTH>(0, column_at + COLUMNS)"));
  EXPECT_THAT(upper, HasSubstr("if (column_at + COLUMNS <= row_at)"));
  EXPECT_THAT(lower, HasSubstr("clip<DEPTH>(0, row_at + ROWS)"));
  EXPECT_THAT(lower, HasSubstr("clip<DEPTH>(column_at, segment_at.end)"));
  EXPECT_THAT(lower, Not(HasSubstr("nobody looks")));
}

TEST(GpuMatmul, VectorsGetTheSkinnyKernel) {
  const task::Task column = task_of("y = A @ x", {"A=f32[M,K]", "x=f32[K,1]"}, "M=512,K=4096");
  EXPECT_EQ(actions(gpu_matmul_offers(column, Language::kHip))[0], "a few columns: rows read once");
  const task::Task row = task_of("y = x @ W.T", {"x=f32[B,K]", "W=f32[N,K]"}, "B=3,N=512,K=4096");
  EXPECT_EQ(actions(gpu_matmul_offers(row, Language::kCuda))[0], "a few rows: columns read once");
}

TEST(GpuMatmul, TypesAndTracks) {
  const task::Task bf16 = task_of("C = A @ B", {"A=bf16[M,K]", "B=bf16[K,N]"}, "M=512,K=512,N=512");
  EXPECT_THAT(gpu_matmul_offers(bf16, Language::kCuda)[0].kernel.source, HasSubstr("Stored16<hone::bf16>"));
  EXPECT_THAT(gpu_matmul_offers(bf16, Language::kCuda)[0].kernel.source, HasSubstr("K % 8 == 0"));
  const task::Task mixed = task_of("C = A @ cast(B, f32)", {"A=f32[M,K]", "B=f16[K,N]"}, "M=512,K=512,N=512");
  EXPECT_THAT(actions(gpu_matmul_offers(mixed, Language::kCuda)), ElementsAre("tile in registers"));
  task::Task tf32 = task_of("C = A @ B", {"A=f32[M,K]", "B=f32[K,N]"}, "M=512,K=512,N=512");
  tf32.track = task::Track::kTf32;
  EXPECT_THAT(gpu_matmul_offers(tf32, Language::kCuda)[0].kernel.source, HasSubstr("Tf32<1>"));
}

TEST(GpuMatmul, OtherTasksGetNothing) {
  struct Other {
    const char* compute;
    std::vector<std::string> inputs;
    const char* workload;
  };
  for (const Other& other : {Other{"y = x + 1", {"x=f32[M,N]"}, "M=64,N=64"},
                             Other{"y = (a @ b) @ c", {"a=f32[M,M]", "b=f32[M,M]", "c=f32[M,M]"}, "M=64"},
                             Other{"y = a @ b", {"a=f64[M,N]", "b=f64[N,M]"}, "M=64,N=64"},
                             Other{"y = a @ b", {"a=i32[M,N]", "b=i32[N,M]"}, "M=64,N=64"},
                             Other{"y = exp(a) @ b", {"a=f32[M,N]", "b=f32[N,M]"}, "M=64,N=64"}})
    EXPECT_THAT(gpu_matmul_offers(task_of(other.compute, other.inputs, other.workload), Language::kCuda), IsEmpty()) << other.compute;
}

}  // namespace
}  // namespace hone::pattern::gpu_matmul_cases
