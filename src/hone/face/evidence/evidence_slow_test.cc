// Evidence of a kernel that is built, verified and timed here, replayed here; and what was tampered with.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/face/evidence/replay.h"
#include "hone/pattern/library.h"

namespace hone::face::evidence {
namespace {

using nlohmann::json;

evaluate::EvaluatorOptions brief(int pairs = 10) {
  evaluate::EvaluatorOptions options;
  options.sampling_seconds = 0.1 * pairs;
  options.max_pairs = pairs;
  return options;
}

std::vector<std::string> differing(const std::vector<Line>& lines) {
  std::vector<std::string> all;
  for (const Line& line : lines)
    if (line.state == Line::kDiffers) all.push_back(line.what + ": " + line.says);
  return all;
}

const Line* line_of(const std::vector<Line>& lines, std::string_view what) {
  for (const Line& line : lines)
    if (line.what.starts_with(what)) return &line;
  return nullptr;
}

Evidence read(const json& value) {
  auto evidence = evidence_from(value.dump(), "softmax.json");
  EXPECT_TRUE(evidence.has_value());
  return *evidence;
}

/// What was made here holds here.
void expect_holds(const std::vector<Line>& lines) {
  for (const char* what : {"device", "toolchain", "binary of kernel", "binary of naive", "verdict"}) {
    const Line* line = line_of(lines, what);
    ASSERT_NE(line, nullptr) << what;
    EXPECT_EQ(line->state, Line::kHolds) << what << ": " << line->says;
  }
  EXPECT_NE(line_of(lines, "ratio to naive"), nullptr);
}

/// `honest`: as it was made, too, and not with a ratio that nobody measured alone; and what was tampered with is built.
void expect_replays(bool honest) {
  const auto bench = engine::Workbench::open("cpu", {1, {}});
  ASSERT_TRUE(bench.has_value());
  const auto task = task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B, D]"}, {"B=64,D=1000"});
  ASSERT_TRUE(task.has_value());
  const kernel::Kernel kernel = pattern::naive_cpp(*task);
  const auto made = make_evidence(**bench, *task, kernel, "naive", 1, brief());
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
  EXPECT_TRUE(made->promotion.verdict.accepted()) << made->promotion.verdict.reason;
  ASSERT_EQ(made->binaries.size(), 2U);
  EXPECT_FALSE(made->binaries[0].content.empty());
  EXPECT_FALSE(made->promotion.seeds.empty());
  EXPECT_FALSE(made->promotion.workloads.at(0).samples_ns.empty());

  const json whole = json::parse(to_text(*made));
  const Evidence again = read(whole);
  EXPECT_EQ(differing(check_parts(again)), std::vector<std::string>{});
  if (honest) {
    const auto here = replay(again, **bench, "naive", brief());
    ASSERT_TRUE(here.has_value()) << here.error().to_string();
    expect_holds(*here);
  }

  json claims_more = whole;
  json& ratio = claims_more["promotion"]["workloads"][0]["opponents"][0]["ratio"];
  ratio = {{"median", 9e6}, {"low", 8e6}, {"high", 1e7}};
  const Evidence boasting = read(claims_more);
  EXPECT_EQ(check_parts(boasting).front().state, Line::kDiffers);
  auto told = replay(boasting, **bench, "naive", brief());
  // Beside a noisy neighbour few pairs say nothing, and the line says that.
  for (int pairs = 40; pairs <= 640 && told && line_of(*told, "ratio to naive") && line_of(*told, "ratio to naive")->state == Line::kElsewhere; pairs *= 4)
    told = replay(boasting, **bench, "naive", brief(pairs));
  ASSERT_TRUE(told.has_value()) << told.error().to_string();
  expect_holds(*told);
  ASSERT_NE(line_of(*told, "ratio to naive"), nullptr);
  EXPECT_EQ(line_of(*told, "ratio to naive")->state, Line::kDiffers) << line_of(*told, "ratio to naive")->says;

  json other_source = whole;
  const std::string source = whole["kernel"]["source"];
  other_source["kernel"]["source"] = source + "\nextern \"C\" int added(int x) { return x + 1; }\n";
  const Evidence tampered = read(other_source);
  EXPECT_EQ(line_of(check_parts(tampered), "source")->state, Line::kDiffers);
  if (!honest) return;
  const auto binaries = replay(tampered, **bench, "none", brief());
  ASSERT_TRUE(binaries.has_value());
  EXPECT_EQ(line_of(*binaries, "binary of kernel")->state, Line::kDiffers);
}

TEST(EvidenceReplay, SoftmaxHoldsWhereItWasMadeAndTamperingIsTold) { expect_replays(false); }
TEST(LongEvidenceReplay, SoftmaxHoldsWhereItWasMadeAndTamperingIsTold) { expect_replays(true); }

}  // namespace
}  // namespace hone::face::evidence
