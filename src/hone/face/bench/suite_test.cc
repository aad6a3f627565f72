#include "hone/face/bench/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/file.h"

namespace hone::face::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BenchSuiteTest : public ::testing::Test {
 protected:
  BenchSuiteTest() {
    for (const char* name : {"a/10_c.toml", "a/02_b.toml", "a/notes.md", "b/05_softmax.toml", "a/deep/01_x.toml"}) {
      EXPECT_TRUE(base::make_directories((root_ / name).parent_path()));
      EXPECT_TRUE(base::write_file_atomic(root_ / name, "x"));
    }
  }
  [[nodiscard]] std::vector<std::string> names(const std::vector<std::string>& suite, const std::string& only = "") const {
    std::vector<std::string> full, names;
    for (const std::string& name : suite) full.push_back((root_ / name).string());
    const auto files = suite_files(full, only);
    EXPECT_TRUE(files) << files.error().to_string();
    if (files)
      for (const auto& file : *files) names.push_back(file.lexically_relative(root_).string());
    return names;
  }
  [[nodiscard]] Error error(const std::string& name, const std::string& only = "") const {
    const auto files = suite_files({(root_ / name).string()}, only);
    EXPECT_FALSE(files);
    return files ? Error{} : files.error();
  }

  base::ScratchDirectory scratch_ = *base::ScratchDirectory::create("suite-test");
  std::filesystem::path root_ = scratch_.path();
};

TEST_F(BenchSuiteTest, a_folder_is_its_task_files_in_order) { EXPECT_THAT(names({"a"}), ElementsAre("a/02_b.toml", "a/10_c.toml")); }

TEST_F(BenchSuiteTest, folders_and_files_go_together_each_once) {
  EXPECT_THAT(names({"b/05_softmax.toml", "a", "a/10_c.toml"}), ElementsAre("a/02_b.toml", "b/05_softmax.toml", "a/10_c.toml"));
  EXPECT_THAT(names({"a/../a/10_c.toml", "a/10_c.toml"}), ElementsAre("a/10_c.toml"));
}

TEST_F(BenchSuiteTest, only_takes_a_part_of_the_name_or_a_pattern) {
  EXPECT_THAT(names({"a", "b"}, "soft"), ElementsAre("b/05_softmax.toml"));
  EXPECT_THAT(names({"a", "b"}, "0*"), ElementsAre("a/02_b.toml", "b/05_softmax.toml"));
  EXPECT_THAT(names({"a", "b"}, "?[02]_*"), ElementsAre("a/02_b.toml", "a/10_c.toml"));
}

TEST_F(BenchSuiteTest, tasks_are_drawn_and_filtered_by_name) {
  const auto suite = drawn_suite("7:30", "", "");
  ASSERT_TRUE(suite) << suite.error().to_string();
  EXPECT_EQ(suite->tasks.size(), 30U);
  EXPECT_THAT(suite->says, ::testing::StartsWith("7:30 of the mix drawn, version 2 ("));
  const auto one = drawn_suite("7:30", "", "drawn_7_004*");
  ASSERT_TRUE(one) << one.error().to_string();
  ASSERT_EQ(one->tasks.size(), 1U);
  EXPECT_EQ(one->tasks[0].toml, suite->tasks[4].toml);
  EXPECT_EQ(one->says, suite->says);
  const auto none = drawn_suite("7:30", "", "nothing_like_it");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().hint, HasSubstr("drawn_7_000"));
  EXPECT_EQ(drawn_suite("7:30", (root_ / "no.toml").string(), "").error().code, ErrorCode::kNotFound);
}

TEST_F(BenchSuiteTest, says_what_is_not_there) {
  EXPECT_EQ(error("nowhere").code, ErrorCode::kNotFound);
  EXPECT_THAT(error("nowhere").message, HasSubstr("nowhere"));
  EXPECT_THAT(error("a", "gelu").message, HasSubstr("gelu"));
  EXPECT_THAT(error("a", "toml").message, HasSubstr("toml")) << "the extension is no part of the name";
  EXPECT_THAT(error("a", "gelu").hint, HasSubstr("02_b"));
  const Error folders = error("");
  EXPECT_EQ(folders.code, ErrorCode::kInput);
  EXPECT_THAT(folders.hint, HasSubstr((root_ / "a").string())) << "one level down there are some";
}

}  // namespace
}  // namespace hone::face::bench
