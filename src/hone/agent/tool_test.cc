// The table's own tools, and what is asked of them that should not be.
#include "hone/agent/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::agent {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

ToolTable table() {
  ToolTable all;
  add_pattern_tools(all);
  add_limits_tool(all, [] { return json{{"peaks", {{"read", 42.5}}}}; });
  return all;
}

TEST(Tool, patterns_are_found_by_words_in_any_order_and_case) {
  const ToolResult found = table().call("search_patterns", {{"query", "Softmax COLUMNS"}});
  ASSERT_FALSE(found.failed) << found.text;
  std::vector<std::string> names;
  for (const json& pattern : found.data["patterns"]) {
    names.push_back(pattern["name"]);
    EXPECT_FALSE(pattern["lines"].empty()) << pattern.dump();
    for (const json& line : pattern["lines"]) EXPECT_LE(line.get<std::string>().size(), 170U);
    // What is found can be read.
    EXPECT_FALSE(table().call("read_pattern", {{"name", pattern["name"]}}).failed);
  }
  EXPECT_THAT(names, ::testing::Contains("cpp/columns.cc"));
  EXPECT_TRUE(table().call("search_patterns", {{"query", "softmax nosuchword"}}).data["patterns"].empty());
}

TEST(Tool, operations_are_found_however_they_are_written) {
  for (const char* query : {"layernorm", "layer_norm", "Layer Norm", "LAYER-NORM"}) {
    const ToolResult found = table().call("search_patterns", {{"query", query}});
    ASSERT_FALSE(found.failed) << query;
    const json& operations = found.data["operations"];
    const auto at = std::find_if(operations.begin(), operations.end(), [](const json& op) { return op["name"] == "layer_norm"; });
    ASSERT_NE(at, operations.end()) << query << found.text;
    EXPECT_THAT((*at)["patterns"].get<std::vector<std::string>>(), ::testing::Contains("rows")) << found.text;
  }
}

TEST(Tool, what_the_library_has_for_an_operation_is_found_by_its_name) {
  const ToolResult found = table().call("search_patterns", {{"query", "linear scan"}});
  ASSERT_FALSE(found.failed) << found.text;
  const auto named = [](const json& rows, const std::string& name) {
    return std::find_if(rows.begin(), rows.end(), [&](const json& row) { return row["name"] == name; });
  };
  const auto op = named(found.data["operations"], "linear_scan");
  ASSERT_NE(op, found.data["operations"].end()) << found.text;
  EXPECT_FALSE((*op)["patterns"].empty()) << found.text;
  const auto header = named(found.data["headers"], "hone/cpu/scan.h");
  ASSERT_NE(header, found.data["headers"].end()) << found.text;
  EXPECT_FALSE((*header)["about"].get<std::string>().empty());
  for (const json& row : found.data["headers"]) EXPECT_FALSE(row["name"].get<std::string>().starts_with("hone/simt/"));
}

TEST(Tool, every_pattern_says_what_it_is) {
  for (const json& pattern : table().call("list_patterns", json::object()).data["patterns"]) {
    const std::string about = pattern["about"];
    // A sentence with its name in front, not a piece of the header's arithmetic.
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(about[0])) && about.size() > 40 && about.find('"') == std::string::npos) << pattern.dump();
    EXPECT_TRUE(about.ends_with(".") || about.size() >= 240) << pattern.dump();
  }
}

TEST(Tool, searches_for_patterns_are_bounded) {
  const ToolResult all = table().call("search_patterns", {{"query", "e"}});
  EXPECT_EQ(all.data["patterns"].size(), 10U);
  EXPECT_GT(all.data["left_out"].get<int>(), 0);
  EXPECT_GT(all.data["patterns"][0]["lines_left_out"].get<int>(), 0);
  EXPECT_LE(all.text.size(), kMaxToolText + 100);
  EXPECT_TRUE(table().call("search_patterns", {{"query", "   "}}).data["patterns"].empty());
  EXPECT_TRUE(table().call("search_patterns", {{"query", ""}}).failed);
  EXPECT_TRUE(table().call("search_patterns", {{"query", std::string(201, 'a')}}).failed);
  EXPECT_TRUE(table().call("search_patterns", {{"query", "rows"}, {"path", "/etc"}}).failed);
  EXPECT_TRUE(table().call("search_patterns", {{"query", "../../etc/passwd"}}).data["patterns"].empty());
}

TEST(Tool, limits_are_asked_for_when_they_are_wanted) {
  int asked = 0;
  ToolTable all;
  add_limits_tool(all, [&] {
    ++asked;
    return json{{"peaks", {{"read", 42.5}}}};
  });
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(all.call("show_limits", json::object()).data["peaks"]["read"], 42.5);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace hone::agent
