#include "hone/base/base64.h"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(Base64Test, IsThatOfTheStandard) {
  for (const auto& [bytes, text] : {std::pair{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(base64(std::string("\xff\x00\xfe", 3)), "/wD+");
  for (const char* const wrong : {"Zg=", "Zg", "Z*==", "Zg==Zg==x", "====", "Zm9v\n"}) EXPECT_FALSE(from_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace hone::base
