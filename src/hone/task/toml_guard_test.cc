#include "hone/task/toml_guard.h"

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <filesystem>

#include "hone/base/file.h"
#include "hone/task/language/limits.h"

namespace hone::task {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(TomlGuard, LetsEveryTaskFilePass) {
  int count = 0;
  for (const char* folder : {"/examples", "/test/cases", "/tasks"}) {
    const std::filesystem::path path = std::string(HONE_SOURCE_DIR) + folder;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() != ".toml") continue;
      const auto text = base::read_file(entry.path());
      ASSERT_TRUE(text.has_value());
      EXPECT_FALSE(toml_guard(*text).has_value()) << entry.path();
      ++count;
    }
  }
  EXPECT_GT(count, 10);
}

TEST(TomlGuard, StopsWhatWouldExhaustTheStack) {
  for (const char* piece : {"[", "{a=", "[[", "[{", "a.", " . a", "\"a\".", "[\n"}) {
    const auto problem = toml_guard("x = 1\n" + repeated(piece, 100'000));
    ASSERT_TRUE(problem.has_value()) << piece;
    EXPECT_GE(problem->where.line, 2) << piece;
  }
  EXPECT_TRUE(toml_guard(std::string(kMaxFileBytes + 1, ' ')).has_value());
  EXPECT_FALSE(toml_guard("x = " + repeated("[", 32) + repeated("]", 32)).has_value());
  EXPECT_TRUE(toml_guard("x = " + repeated("[", 33) + repeated("]", 33)).has_value());
}

TEST(TomlGuard, RefusesSectionsWithoutAName) {
  for (const char* const section : {"[!23", "[\n", "[ \t=]", "[[", "[[.a]]"}) {
    const auto problem = toml_guard(std::string("x = 1\n  ") + section + "\n");
    ASSERT_TRUE(problem.has_value()) << section;
    EXPECT_EQ(problem->where.line, 2) << section;
    EXPECT_EQ(problem->where.column, 3) << section;
  }
  for (const char* const fine : {"[a]", "[[ a ]]", "[\"a\"]", "['a']", "[-]", "[]", "[", "x = [\n[!1]]", "# [!", "x = \"\"\"\n[!\"\"\""})
    EXPECT_FALSE(toml_guard(fine).has_value()) << fine;
}

TEST(TomlGuard, RefusesWhatIsNotAsciiOutsideOfTexts) {
  const auto problem = toml_guard("x = 1\ny = \xe2\x80\x9ctext\xe2\x80\x9d");
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->where.line, 2);
  EXPECT_EQ(problem->where.column, 5);
  EXPECT_EQ(problem->message, "'\xe2\x80\x9ctext\xe2\x80\x9d' is not a value");
  const auto key = toml_guard("  \xc3\xa9 = 1");
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->message, "expected a name of letters, digits, _ and -, found '\xc3\xa9'");
  EXPECT_TRUE(toml_guard("x = \"\"\"a\\\n  \xc3\xa9\"\"\"").has_value()) << "behind a line's end that does not count";
  EXPECT_TRUE(toml_guard("x = \"\"\"\\\xc3\xa9\"\"\"").has_value());
  EXPECT_FALSE(toml_guard("x = \"\"\"\\\\\xc3\xa9\\\n a\xc3\xa9\"\"\"\ny = '''\\\xc3\xa9'''").has_value());
  EXPECT_TRUE(toml_guard("x = +++\"\xc3\xa9\"\n").has_value()) << "no text begins there";
  EXPECT_TRUE(toml_guard("x = \"a\" \"\xc3\xa9\"\n").has_value());
  EXPECT_FALSE(toml_guard("x = +++\"a\"\ny = \"\xc3\xa9\"").has_value()) << "toml++ says it better";
  EXPECT_FALSE(toml_guard("[a.\"\xc3\xa9\".'\xc3\xa9']\nx = [\"\xc3\xa9\", # \"\n'\xc3\xa9', {\"\xc3\xa9\" = \"\xc3\xa9\"}]").has_value());
  EXPECT_FALSE(toml_guard("x = \"\xe2\x80\x9c\" # \xc3\xa9\n\"\xc3\xa9\" = 1").has_value());
}

TEST(TomlGuard, RefusesAListThatABraceEnds) {
  for (const char* const list : {"x = [}", "x = [1, }", "x = { y = [ }", "x = [[1], # ]\n }]"}) EXPECT_TRUE(toml_guard(list).has_value()) << list;
  for (const char* const fine : {"x = [{}]", "x = [ { y = [1] }, {} ]", "x = [\"}\"]", "x = [ # }\n]", "x = }", "x = { y = ] }"}) EXPECT_FALSE(toml_guard(fine).has_value()) << fine;
}

TEST(TomlGuard, LooksNeitherIntoTextsNorIntoComments) {
  for (const char* quote : {"\"", "'", "\"\"\"", "'''"})
    EXPECT_FALSE(
        toml_guard(std::string("x = ") + quote + repeated("[", 200) + repeated("a.", 200) + quote + "\n")
            .has_value());
  EXPECT_FALSE(toml_guard("# " + repeated("[", 200) + "\nx = 1").has_value());
  EXPECT_FALSE(toml_guard("x = \"\\\"" + repeated("[", 200) + "\"").has_value());
  EXPECT_FALSE(toml_guard("x = '\\'\ny = [1]").has_value());
}

TEST(TomlGuard, NamesTheFirstByteThatIsNotText) {
  const std::pair<std::string, Where> cases[] = {{"\xff", {1, 1}},
                                                 {"a = 1\nb = \"\xc3\xa9\xc3\"", {2, 7}},
                                                 {std::string("a\0b", 3), {1, 2}},
                                                 {"\xed\xa0\x80", {1, 1}},
                                                 {"ab\xc0\xaf", {1, 3}},
                                                 {"\xf4\x90\x80\x80", {1, 1}},
                                                 {"\xe0\x80\x80", {1, 1}},
                                                 {"\xf0\x9f\x98\x80\x80", {1, 2}},
                                                 {"\xe2\x82", {1, 1}}};
  for (const auto& [text, where] : cases) {
    const auto problem = toml_guard(text);
    ASSERT_TRUE(problem.has_value()) << text;
    EXPECT_EQ(problem->where.line, where.line) << text;
    EXPECT_EQ(problem->where.column, where.column) << text;
  }
  EXPECT_FALSE(toml_guard("\xef\xbb\xbf# \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80").has_value());
}

/// What toml++ accepts leaves nothing open, so the scanner never blames a sound file.
TEST(TomlGuard, FindsNothingOpenInSoundText) {
  for (const char* text :
       {"a = \"\"\"x\"\"\"\"\"", "a = '''x'''''", "a = { b = [ 1,\n 2 ] }", "a = \"\\\\\"\nb = 1",
        "a = '''\n{ [ ' '' '''", "a = [ # ]\n]", "a = \"\"\"\n\\\"\"\"\n\"\"\"", "\"a{\" = 1\n'b[' = 2"}) {
    ASSERT_TRUE(toml::parse(std::string_view(text))) << text;
    const TomlProblem problem = toml_problem("Error while parsing file: something", text, {1, 1});
    EXPECT_EQ(problem.message, "this is not TOML (file): something") << text;
  }
}

}  // namespace
}  // namespace hone::task
