// What the GPU patterns write, at golden points; and which patterns are offered for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/pattern/families_testing.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_rounds.h"
#include "hone/pattern/library.h"
#include "hone/pattern/normal_form.h"
#include "hone/target/simt_device.h"

namespace hone::pattern::gpu_cases {
namespace {

using ::testing::ElementsAre;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs, const std::string& sizes) {
  auto task = task::task_from_expressions(compute, inputs, {sizes});
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

std::vector<std::string> patterns_of(const task::Task& task, kernel::Language language = kernel::Language::kCuda) {
  std::vector<std::string> ignored, names;
  for (const Offer& offer : offers_gpu(task, language, ignored)) names.push_back(offer.pattern);
  return names;
}

std::string first_source(const task::Task& task, kernel::Language language = kernel::Language::kCuda) {
  std::vector<std::string> ignored;
  const auto offers = offers_gpu(task, language, ignored);
  return offers.empty() ? std::string() : offers.front().kernel.source;
}

std::vector<size_t> passes_of_rounds(const task::Task& task, bool together) {
  const task::Task normal = normal_form(task);
  const auto program = find_program(normal);
  EXPECT_TRUE(program);
  std::vector<size_t> counts;
  for (const Round& round : rounds_of(*program, together)) counts.push_back(round.passes.size());
  return counts;
}

TEST(GpuOffers, SuitTheShape) {
  EXPECT_THAT(patterns_of(task_of("y = relu(x)", {"x=f32[B,D]"}, "B=4096,D=393216")), ElementsAre("map"));
  EXPECT_THAT(patterns_of(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4096,D=4096")), ElementsAre("rows", "split"));
  EXPECT_THAT(patterns_of(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4096,D=393216")), ElementsAre("specialised_cluster", "specialised_rows", "shared_rows", "resident_rows", "rows", "split"));
  EXPECT_THAT(patterns_of(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4096,D=65535")), ElementsAre("shared_rows", "specialised_cluster", "specialised_rows", "resident_rows", "rows", "split"));
  EXPECT_THAT(patterns_of(task_of("y = layer_norm(x)", {"x=f32[B,D]"}, "B=16,D=4194304")), ElementsAre("shared_rows", "specialised_rows", "resident_rows", "split", "rows"));
  EXPECT_THAT(patterns_of(task_of("y = mean((a - b) * (a - b))", {"a=f32[B,D]", "b=f32[B,D]"}, "B=32768,D=32768")), ElementsAre("split", "rows"));
  EXPECT_THAT(patterns_of(task_of("y = argmax(x, axis=1)", {"x=f32[A,B,D]"}, "A=128,B=4096,D=4095")), ElementsAre("columns"));
  EXPECT_THAT(patterns_of(task_of("y = sum(x, axis=0)", {"x=f32[B,D]"}, "B=1048576,D=64")), ElementsAre("split_columns", "columns"));
  EXPECT_THAT(patterns_of(task_of("y = cumsum(x, axis=-1)", {"x=f32[B,D]"}, "B=32768,D=32768")), ElementsAre("scans", "split_scans"));
  EXPECT_THAT(patterns_of(task_of("y = cross_entropy(x, t)", {"x=f32[B,D]", "t=i64[B]"}, "B=32768,D=4096")), testing::Contains("parts"));
}

/// With few rows all blocks share them, whatever they are; and where weights change from piece to piece of a row, a tile is no larger than one.
TEST(GpuOffers, FewRowsInPiecesFillTheirTiles) {
  const task::Task task = task_of("y = group_norm(x, 1, w, b)", {"x=f32[N,C,H,W]", "w=f32[C]", "b=f32[C]"}, "N=7,C=320,H=28,W=33");
  EXPECT_THAT(patterns_of(task), testing::Contains("shared_rows"));
  std::vector<std::string> ignored;
  for (const Offer& offer : offers_gpu(task, kernel::Language::kCuda, ignored)) {
    if (offer.pattern != "shared_rows" && !offer.pattern.starts_with("specialised")) continue;
    const kernel::Config& config = offer.kernel.config;
    EXPECT_LT(config.at("THREADS") * config.at("VEC") * config.at("UNROLL"), 2 * 28 * 33) << offer.pattern;
  }
  EXPECT_EQ(patterns_of(task).front(), "shared_rows");
}

/// Exponentials and their quotients are a little less exact where 16 bits are looked at, and nowhere else.
TEST(GpuOffers, WhatIsRoundedTo16BitsIsComputedWithThatInMind) {
  const auto source_of = [](const char* compute, const char* type) {
    std::vector<std::string> ignored;
    std::vector<std::string> inputs = {fmt::format("x={}[A,B]", type)};
    if (std::string(compute).find('z') != std::string::npos) inputs.push_back(fmt::format("z={}[A,B]", type));
    const task::Task task = task_of(compute, inputs, "A=64,B=4096");
    return offers_gpu(task, kernel::Language::kCuda, ignored).front().kernel.source;
  };
  const auto coarse = testing::HasSubstr("coarse_");
  for (const char* type : {"bf16", "f16"}) {
    EXPECT_THAT(source_of("y = silu(x)", type), testing::AllOf(testing::HasSubstr("coarse_exp("), testing::HasSubstr("coarse_ratio(")));
    EXPECT_THAT(source_of("y = sigmoid(x) * z", type), coarse);
    EXPECT_THAT(source_of("y = softmax(x, axis=-1)", type), testing::Not(coarse));                         // summed in f32
    EXPECT_THAT(source_of(fmt::format("y = {}(exp(f32(x)) - exp(f32(z)))", type).c_str(), type), testing::Not(coarse));   // cancels
    EXPECT_THAT(source_of("y = f32(exp(f32(x)))", type), testing::Not(coarse));                            // an output of f32
    EXPECT_THAT(source_of(fmt::format("y = {}(where(exp(f32(x)) > 1.0, f32(x), f32(z)))", type).c_str(), type), testing::Not(coarse));   // decides
  }
  EXPECT_THAT(source_of("y = silu(x)", "f32"), testing::Not(coarse));
}

/// What a pattern chooses for a shape has to fit the constraints that it writes beside it: else its first kernel fails to launch.
void expect_allowed_from_the_start(const std::vector<families_testing::Case>& cases) {
  for (const families_testing::Case& c : cases)
    for (const families_testing::Extents& extents : {families_testing::Extents{"20", "5", "3", "12"}, {"4096", "640", "7", "96"}, {"17", "90000", "2", "33"}}) {
      const auto task = families_testing::task_of(c, {extents});
      if (!task) continue;  // extents that the case has no meaning for
      for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
        std::vector<std::string> ignored;
        for (const Offer& offer : offers_gpu(*task, language, ignored)) {
          const auto fits = kernel::allowed(offer.kernel.header, offer.kernel.config, target::simt_limits(*target::simt_device(language)));
          EXPECT_TRUE(fits && *fits) << c.name << " at D=" << extents.D << ", " << kernel::name_of(language) << ": " << offer.pattern << ": " << offer.action;
        }
      }
    }
}
TEST(GpuOffers, BeginWithWhatTheirConstraintsAllow) { expect_allowed_from_the_start(base::testing::one_of_each(3, families_testing::cases())); }
TEST(LongGpuOffers, BeginWithWhatTheirConstraintsAllow) { expect_allowed_from_the_start(families_testing::cases()); }

TEST(GpuOffers, AreOneTextForBothLanguages) {
  const task::Task task = task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=4096");
  std::string cuda = first_source(task), hip = first_source(task, kernel::Language::kHip);
  const std::string language = "language = \"hip\"";
  ASSERT_THAT(hip, HasSubstr(language));
  hip.replace(hip.find(language), language.size(), "language = \"cuda\"");
  EXPECT_EQ(cuda, hip);
}

TEST(GpuRows, ReadOnceAndKeepWhatIsDear) {
  const std::string source = first_source(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=64,D=4096"));
  const std::string rows = source.substr(source.find("__global__"), source.find("long_rows(const") - source.find("__global__"));
  ASSERT_THAT(rows, HasSubstr("tile.load(in_x_row)"));
  EXPECT_EQ(rows.find("tile.load(in_x_row)"), rows.rfind("tile.load(in_x_row)"));
  EXPECT_THAT(rows, HasSubstr("keep"));
  EXPECT_THAT(source, HasSubstr("when   = \"THREADS*VEC*WORDS < D\""));
}

TEST(GpuRows, GoByWordsWhereTheyStandAlike) {
  // Input and output rows stand alike whatever D is; a weight stands at the same place for every row.
  EXPECT_THAT(first_source(task_of("y = x / sum(x, axis=-1, keepdims=true)", {"x=f32[B,D]"}, "B=64,D=4095")),
              HasSubstr("Alignment::of(n_D % VEC == 0, true, in_x_row, in_x)"));
  EXPECT_THAT(first_source(task_of("y = x * w / sum(x, axis=-1, keepdims=true)", {"x=f32[B,D]", "w=f32[D]"}, "B=64,D=4095")),
              ContainsRegex("Alignment::of\\(n_D % VEC == 0, [^,]*D[^,]* % VEC == 0, in_x_row, in_x\\)"));
}

TEST(GpuMaps, RunFlatWhereNothingIsBroadcast) {
  const std::string source = first_source(task_of("y = tanh(x)", {"x=f32[B,D]"}, "B=64,D=4095"));
  EXPECT_THAT(source, HasSubstr("const bool aligned = true;"));
  EXPECT_THAT(source, HasSubstr("grid   = [\"ceil_div(B*D, THREADS*UNROLL*VEC)\"]"));
}

TEST(GpuMaps, UseWordsOfTheWidestTensor) {
  EXPECT_THAT(first_source(task_of("y = relu(x)", {"x=bf16[B,D]"}, "B=64,D=4096")), HasSubstr("VEC = [8, "));
  EXPECT_THAT(first_source(task_of("y = relu(x)", {"x=f64[B,D]"}, "B=64,D=4096")), HasSubstr("VEC = [2, "));
}

TEST(GpuMaps, ComputeInFloat) {
  const std::string source = first_source(task_of("y = where(x > 0.5, x, -inf) / 3.0", {"x=f32[B,D]"}, "B=64,D=4096"));
  EXPECT_THAT(source, HasSubstr("static_cast<float>("));
  EXPECT_THAT(source, HasSubstr("/ 3.0f"));
  EXPECT_THAT(source, Not(HasSubstr("double")));
}

TEST(GpuMaps, NeverUseFastMathematics) { EXPECT_THAT(first_source(task_of("y = exp(x) / x", {"x=f32[B,D]"}, "B=64,D=4096")),
                                                     Not(HasSubstr("__exp"))); }

TEST(GpuRounds, JoinWhatCanBeMended) {
  EXPECT_THAT(passes_of_rounds(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4,D=8"), true), ElementsAre(2u, 1u));
  EXPECT_THAT(passes_of_rounds(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4,D=8"), false), ElementsAre(1u, 1u, 1u));
  EXPECT_THAT(passes_of_rounds(task_of("y = layer_norm(x)", {"x=f32[B,D]"}, "B=4,D=8"), true), ElementsAre(2u, 1u));
  EXPECT_THAT(passes_of_rounds(task_of("y = var(x, axis=-1)", {"x=f32[B,D]"}, "B=4,D=8"), true), ElementsAre(2u));
  EXPECT_THAT(passes_of_rounds(task_of("y = group_norm(x, G)", {"x=f32[N,G*P,H]"}, "N=2,G=3,P=2,H=5"), true), ElementsAre(2u, 1u));
  // The sum of distances is no sum of squares, and half the mean is no mean.
  EXPECT_THAT(passes_of_rounds(task_of("y = sum(abs(x - mean(x, axis=-1, keepdims=true)), axis=-1)", {"x=f32[B,D]"}, "B=4,D=8"), true),
              ElementsAre(1u, 1u));
  EXPECT_THAT(passes_of_rounds(task_of("y = sum((x - 0.5 * mean(x, axis=-1, keepdims=true)) ** 2, axis=-1)", {"x=f32[B,D]"}, "B=4,D=8"),
                               true), ElementsAre(1u, 1u));
}

TEST(GpuResidentRows, AreNoLargerThanTheDevice) {
  const task::Task normal = normal_form(task_of("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, "B=4096,D=393216"));
  const auto program = find_program(normal);
  ASSERT_TRUE(program);
  const auto kernel = gpu::resident_rows(*program, kernel::Language::kCuda);
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const kernel::Limits limits{{"SMS", 132}, {"SHARED_MAX", 232448}, {"WAVE", 32}};
  EXPECT_TRUE(kernel::applies(*kernel, {{"B", 4096}, {"D", 393216}}, limits).value());
  EXPECT_FALSE(kernel::applies(*kernel, {{"B", 4096}, {"D", 8 * 393216 * 2}}, limits).value());
}

TEST(GpuParts, HaveIncludesOnceAndNamesOfTheirOwn) {
  const std::string source = first_source(task_of("y = mean(relu(sqrt(sum((a - p) * (a - p), axis=1)) - sqrt(sum((a - n) * (a - n), axis=1)) + 1.0))",
                                                  {"a=f32[B,D]", "p=f32[B,D]", "n=f32[B,D]"}, "B=64,D=512"));
  EXPECT_THAT(source, HasSubstr("THREADS_2"));
  EXPECT_THAT(source, HasSubstr("namespace part_2 {"));
  EXPECT_EQ(source.find("#include \"hone/gpu/reduce.h\""), source.rfind("#include \"hone/gpu/reduce.h\""));
}

}  // namespace
}  // namespace hone::pattern::gpu_cases
