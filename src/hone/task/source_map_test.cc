#include "hone/task/source_map.h"

#include <gtest/gtest.h>

namespace hone::task {
namespace {

std::pair<int, int> at(std::string_view file, Where begin, int line, int column) {
  const Where where = SourceMap(file, begin).to_file({line, column});
  return {where.line, where.column};
}

using P = std::pair<int, int>;

TEST(SourceMap, OneLine) {
  EXPECT_EQ(at("a = \"xyz\"", {1, 5}, 1, 1), P(1, 6));
  EXPECT_EQ(at("a = 'xyz'", {1, 5}, 1, 3), P(1, 8));
  EXPECT_EQ(at("a = 'xyz'", {1, 5}, 1, 4), P(1, 9));   // the end
  EXPECT_EQ(at("a = 'xyz'", {1, 5}, 1, 40), P(1, 9));  // beyond it
}

TEST(SourceMap, ManyLines) {
  const std::string_view file = "n = 1\na = \"\"\"\nx = 1\n  y = 2\n\"\"\"\n";
  EXPECT_EQ(at(file, {2, 5}, 1, 1), P(3, 1));
  EXPECT_EQ(at(file, {2, 5}, 2, 3), P(4, 3));
  EXPECT_EQ(at("a = '''x\ny'''", {1, 5}, 1, 1), P(1, 8));
  EXPECT_EQ(at("a = '''x\ny'''", {1, 5}, 2, 1), P(2, 1));
  EXPECT_EQ(at("a = \"\"\"\r\nx\r\ny\"\"\"", {1, 5}, 2, 1), P(3, 1));
}

TEST(SourceMap, Escapes) {
  EXPECT_EQ(at("a = \"\\tx\"", {1, 5}, 1, 2), P(1, 8));
  EXPECT_EQ(at("a = \"x\\ny\"", {1, 5}, 2, 1), P(1, 9));
  EXPECT_EQ(at("a = \"\\u0041b\"", {1, 5}, 1, 2), P(1, 12));
  EXPECT_EQ(at("a = \"\"\"x \\\n   y\"\"\"", {1, 5}, 1, 3), P(2, 4));
  EXPECT_EQ(at("a = '\\tx'", {1, 5}, 1, 3), P(1, 8));  // a literal string has none
}

TEST(SourceMap, ColumnsCountCharacters) {
  // "é" is two bytes of the value but one column of the file.
  EXPECT_EQ(at("a = '\xc3\xa9x'", {1, 5}, 1, 3), P(1, 7));
}

}  // namespace
}  // namespace hone::task
