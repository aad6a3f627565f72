// What is kept of a task: found again under the same question only, and used instead of being found out anew.
#include "hone/evaluate/facts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/evaluate/check_task.h"
#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/bounds.h"

namespace hone::evaluate {
namespace {

using testing::Case;

class FactsTest : public ::testing::Test {
 protected:
  base::ScratchDirectory scratch = std::move(*base::ScratchDirectory::create("facts"));
  std::filesystem::path folder = scratch.path() / "facts";
  std::shared_ptr<const Facts> facts = std::make_shared<const Facts>(folder);

  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) all.push_back(entry.path());
    return all;
  }
};

TEST_F(FactsTest, AnAnswerIsFoundUnderItsQuestionOnly) {
  EXPECT_FALSE(facts->known("how many?"));
  facts->keep("how many?", {{"count", 3}});
  EXPECT_EQ(facts->known("how many?"), nlohmann::json({{"count", 3}}));
  EXPECT_EQ(Facts(folder).known("how many?"), nlohmann::json({{"count", 3}}));
  EXPECT_FALSE(facts->known("how many ?"));
}

TEST_F(FactsTest, ADamagedFileCountsAsNotThere) {
  facts->keep("sound?", true);
  ASSERT_EQ(files().size(), 1);
  for (const char* content : {"", "{", "[]", R"({"question":"another?","answer":true})", R"({"question":"sound?"})"}) {
    std::ofstream(files()[0]) << content;
    EXPECT_FALSE(facts->known("sound?")) << content;
  }
}

TEST_F(FactsTest, AFolderThatCannotBeMadeIsNoError) {
  const Facts nowhere("/proc/no/such/folder");
  nowhere.keep("sound?", true);
  EXPECT_FALSE(nowhere.known("sound?"));
}

std::vector<double> maxima(const std::vector<OutputError>& errors) {
  std::vector<double> all;
  for (const OutputError& error : errors) all.push_back(error.max);
  return all;
}

TEST_F(FactsTest, WhatTheAnchorLosesIsDrawnOnce) {
  const Case c("y = cumsum(x, axis=1)", {"x=f32[64,50]"});
  Bounds first(c.task, c.graph, 5, 1, facts), second(c.task, c.graph, 6, 1, facts), apart(c.task, c.graph, 6, 1);
  const auto drawn = first.further_anchors(0, Family::kNormal);
  ASSERT_EQ(drawn.size(), 3);
  EXPECT_EQ(maxima(second.further_anchors(0, Family::kNormal)), maxima(drawn));
  EXPECT_NE(maxima(apart.further_anchors(0, Family::kNormal)), maxima(drawn));
  EXPECT_EQ(second.of(0, Family::kNormal, {}).rms, first.of(0, Family::kNormal, {}).rms);
  // Another family, another shape, another track: other facts.
  EXPECT_NE(maxima(second.further_anchors(0, Family::kLarge)), maxima(drawn));
  const Case other("y = cumsum(x, axis=1)", {"x=f32[64,51]"});
  Bounds of_other(other.task, other.graph, 7, 1, facts);
  EXPECT_NE(maxima(of_other.further_anchors(0, Family::kNormal)), maxima(drawn));
}

TEST_F(FactsTest, WhatIsNotErrorsIsDrawnAnew) {
  const Case c("y = cumsum(x, axis=1)", {"x=f32[64,50]"});
  Bounds first(c.task, c.graph, 5, 1, facts);
  const auto drawn = first.further_anchors(0, Family::kNormal);
  ASSERT_EQ(files().size(), 1);
  const std::string text = *base::read_file(files()[0]);
  nlohmann::json broken = nlohmann::json::parse(text);
  broken["answer"][1].erase("rms");
  std::ofstream(files()[0]) << broken;
  Bounds second(c.task, c.graph, 6, 1, facts);
  EXPECT_NE(maxima(second.further_anchors(0, Family::kNormal)), maxima(drawn));
}

TEST_F(FactsTest, ASoundTaskIsTestedOnceAndALeakyOneEveryTime) {
  const Case sound("y = relu(x)", {"x=f32[8,9]"}), leaky("y = x * 0.0", {"x=f32[8,9]"});
  EXPECT_TRUE(check_task(sound.task, facts.get()));
  EXPECT_EQ(files().size(), 1);
  EXPECT_TRUE(check_task(sound.task, facts.get()));
  EXPECT_EQ(files().size(), 1);
  EXPECT_FALSE(check_task(leaky.task, facts.get()));
  EXPECT_FALSE(check_task(leaky.task, facts.get()));
  const Case never("y = any(abs(x) < 0.0)", {"x=f32[100]"});
  const auto refused = check_task(never.task, facts.get());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().hint.find("give x domains"), std::string::npos) << refused.error().hint;
  EXPECT_EQ(files().size(), 1);
}

}  // namespace
}  // namespace hone::evaluate
