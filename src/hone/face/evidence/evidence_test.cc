// The file as text: what is written is read again, and what was changed is told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/face/evidence/replay.h"
#include "hone/kernel/write_header.h"
#include "hone/pattern/library.h"

namespace hone::face::evidence {
namespace {

using nlohmann::json;

Evidence of_addition() {
  const auto task = task::task_from_expressions("y = x + x", {"x=f32[8]"}, {});
  EXPECT_TRUE(task.has_value());
  const kernel::Kernel kernel = pattern::naive_cpp(*task);
  Evidence evidence;
  evidence.hone = "0.0";
  evidence.task = task->name, evidence.task_hash = task->hash(), evidence.task_toml = task->to_toml();
  evidence.kernel_hash = kernel.hash(), evidence.source = kernel::with_config(kernel, kernel.config);
  evidence.plan = kernel::header_comment(kernel.header);
  evidence.place = {"cpu", "a machine", "a compiler"};
  evidence.binaries = {{"kernel", "a", "b", "c", "d"}};
  evidence.promotion.seeds = {1, 2};
  return evidence;
}

std::vector<std::string> differing(const Evidence& evidence) {
  std::vector<std::string> all;
  for (const Line& line : check_parts(evidence))
    if (line.state == Line::kDiffers) all.push_back(line.what);
  return all;
}

TEST(Evidence, ReadsBackAsItWasWritten) {
  const Evidence evidence = of_addition();
  const std::string text = to_text(evidence);
  const auto again = evidence_from(text, "a.json");
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_TRUE(again->sealed);
  EXPECT_EQ(to_text(*again), text);
  EXPECT_EQ(differing(*again), std::vector<std::string>{});
}

TEST(Evidence, WhatWasChangedIsTold) {
  const json whole = json::parse(to_text(of_addition()));
  const auto changed = [&](auto change) {
    json other = whole;
    change(other);
    const auto read = evidence_from(other.dump(), "a.json");
    EXPECT_TRUE(read.has_value());
    return differing(*read);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(changed([](json& j) { j["promotion"]["seeds"][0] = 3; }), (Names{"file"}));
  EXPECT_EQ(changed([](json& j) { j["kernel"]["source"] = j["kernel"]["source"].get<std::string>() + "int more;\n"; }), (Names{"file", "source"}));
  EXPECT_EQ(changed([](json& j) { j["kernel"]["plan"] = ""; }), (Names{"file", "plan"}));
  EXPECT_EQ(changed([](json& j) { j["task"]["hash"] = "0"; }), (Names{"file", "task"}));
}

TEST(Evidence, WhatIsNoneIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"format":"hone evidence 1"})", R"({"format":1})"}) EXPECT_FALSE(evidence_from(text, "a.json").has_value()) << text;
}

}  // namespace
}  // namespace hone::face::evidence
