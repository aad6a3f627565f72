// The cache of builds: what one process keeps stays where another may be about to load it.
#include "hone/target/toolchain/build_cache.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "hone/base/file.h"
#include "hone/base/testing/environment.h"

namespace hone::target {
namespace {

class BuildCache : public testing::Test {
 protected:
  Build keep(const std::string& image) {
    EXPECT_TRUE(base::write_file_atomic(folder_.path() / "made", image));
    Build build;
    build.hash = "abcdef";
    build.toolchain = "a compiler";
    build.facts = {{"registers/k", 32}};
    auto kept = keep_build(std::move(build), folder_.path() / "made");
    EXPECT_TRUE(kept) << kept.error().to_string();
    return kept ? *kept : Build{};
  }
  static ino_t file_number(const std::filesystem::path& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_ino;
  }

  base::ScratchDirectory folder_ = base::ScratchDirectory::create("cache").value();
  base::testing::Variable cache_{"XDG_CACHE_HOME", (folder_.path() / "cache").string()};
};

TEST_F(BuildCache, KeepsAndFinds) {
  EXPECT_FALSE(kept_build("abcdef", "a compiler"));
  const Build kept = keep("image");
  const auto found = kept_build("abcdef", "a compiler");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->artifact, kept.artifact);
  EXPECT_EQ(found->facts.at("registers/k"), 32);
  EXPECT_EQ(base::read_file(found->artifact).value(), "image");
}

/// A jail is given a file: one that has taken its name since would not open there.
TEST_F(BuildCache, NothingTakesAnArtifactsPlace) {
  const Build first = keep("image");
  const ino_t number = file_number(first.artifact);
  EXPECT_EQ(keep("image").artifact, first.artifact);
  EXPECT_EQ(file_number(first.artifact), number);
  const Build other = keep("the same source, compiled in another folder");
  EXPECT_NE(other.artifact, first.artifact);
  EXPECT_EQ(file_number(first.artifact), number);
  EXPECT_EQ(base::read_file(first.artifact).value(), "image");
  EXPECT_EQ(kept_build("abcdef", "")->artifact, other.artifact);
}

TEST_F(BuildCache, WhatWasChangedIsMadeAnew) {
  const Build build = keep("image");
  ASSERT_TRUE(base::write_file_atomic(build.artifact, "something else"));
  EXPECT_FALSE(kept_build("abcdef", ""));
  EXPECT_EQ(base::read_file(keep("image").artifact).value(), "image");
  EXPECT_TRUE(kept_build("abcdef", ""));
}

TEST_F(BuildCache, WhatCannotBeReadIsMadeAnew) {
  keep("image");
  const std::filesystem::path facts = folder_.path() / "cache/hone/builds/ab/abcdef.json";
  std::string text = base::read_file(facts).value();
  const std::string from = "\"command\":\"\"";
  ASSERT_NE(text.find(from), std::string::npos) << text;
  text.replace(text.find(from), from.size(), "\"command\":7");
  ASSERT_TRUE(base::write_file_atomic(facts, text));
  EXPECT_FALSE(kept_build("abcdef", ""));
}

}  // namespace
}  // namespace hone::target
