#include "hone/base/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::base {
namespace {

constexpr size_t kPlenty = size_t{1} << 24;

std::string long_text() {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += static_cast<char>('a' + (i * i + i / 7) % 26);
  return text;
}

TEST(GzipTest, goes_there_and_back) {
  for (const std::string& text : {std::string(), std::string("hone"), long_text() + long_text() + long_text() + long_text()}) {
    const std::string bytes = gzip(text);
    EXPECT_TRUE(is_gzip(bytes));
    EXPECT_EQ(gunzip(bytes, kPlenty, "t").value(), text);
    EXPECT_EQ(gzip(text), bytes);
  }
}

TEST(GzipTest, reads_members_one_after_the_other) {
  EXPECT_EQ(gunzip(gzip("one ") + gzip("two"), kPlenty, "t").value(), "one two");
}

TEST(GzipTest, knows_what_is_not_gzip) {
  EXPECT_FALSE(is_gzip(""));
  EXPECT_FALSE(is_gzip("{}"));
}

TEST(GzipTest, says_what_is_wrong) {
  const std::string bytes = gzip(long_text());
  const auto cut = gunzip(bytes.substr(0, bytes.size() / 2), kPlenty, "x.gz");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().to_string(), ::testing::AllOf(::testing::HasSubstr("x.gz"), ::testing::HasSubstr("cut off")));
  std::string damaged = bytes;
  for (size_t i = 20; i < 60; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  EXPECT_THAT(gunzip(damaged, kPlenty, "x.gz").error().message, ::testing::HasSubstr("damaged"));
  EXPECT_THAT(gunzip(bytes, 1000, "x.gz").error().message, ::testing::HasSubstr("more than 1000"));
}

}  // namespace
}  // namespace hone::base
