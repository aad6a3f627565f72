#include "hone/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace hone::base {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(File, WritesAndReadsWhole) {
  const auto scratch = ScratchDirectory::create("test").value();
  const fs::path path = scratch.path() / "file";
  const std::string content = std::string(200'000, 'a') + '\0' + "end";
  ASSERT_TRUE(write_file_atomic(path, "before"));
  ASSERT_TRUE(write_file_atomic(path, content));
  EXPECT_EQ(read_file(path).value(), content);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1) << "no temporary stays";
}

/// Of processes that publish the same file at once all go on with one and the same.
TEST(File, WhatIsPublishedNeverChanges) {
  const auto scratch = ScratchDirectory::create("test").value();
  const fs::path path = scratch.path() / "file";
  struct stat first {}, now {};
  ASSERT_TRUE(write_file_once(path, "first", 0755));
  ASSERT_EQ(::stat(path.c_str(), &first), 0);
  EXPECT_EQ(first.st_mode & 0777, 0755U);
  std::vector<std::jthread> others;
  for (int i = 0; i < 4; ++i) others.emplace_back([&] { EXPECT_TRUE(write_file_once(path, "second")); });
  others.clear();
  ASSERT_EQ(::stat(path.c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, first.st_ino);
  EXPECT_EQ(read_file(path).value(), "first");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1) << "no temporary stays";
  EXPECT_FALSE(write_file_once("/no/such/folder/file", ""));
}

TEST(File, ErrorsNameThePath) {
  const auto missing = read_file("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/no/such/file"));
  EXPECT_FALSE(write_file_atomic("/no/such/folder/file", ""));
  EXPECT_FALSE(make_directories("/dev/null/folder"));
}

TEST(File, ScratchDirectoriesCleanUp) {
  fs::path path;
  {
    auto first = ScratchDirectory::create("test").value();
    path = first.path();
    const ScratchDirectory moved = std::move(first);
    ASSERT_TRUE(make_directories(path / "a" / "b"));
    ASSERT_TRUE(write_file_atomic(path / "a" / "b" / "file", "x"));
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(File, DescriptorsCloseOnce) {
  int number = -1;
  {
    Fd first(::open("/dev/null", O_RDONLY));
    number = first.get();
    const Fd second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), number);
    EXPECT_EQ(::fcntl(number, F_GETFD), 0);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(File, FoldersFollowTheEnvironment) {
  ::setenv("HONE_HOME", "/somewhere", 1);
  EXPECT_EQ(data_directory(), "/somewhere");
  ::unsetenv("HONE_HOME");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(data_directory(), "/data/hone");
  EXPECT_EQ(cache_directory(), "/cache/hone");
}

}  // namespace
}  // namespace hone::base
