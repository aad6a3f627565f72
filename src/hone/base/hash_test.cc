#include "hone/base/hash.h"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(Hash, IsBlake2b256) {
  EXPECT_EQ(content_hash(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(content_hash("abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Hash, FieldsHaveBorders) {
  EXPECT_EQ(Hasher().add("ab").add("c").finish(), Hasher().add("ab").add("c").finish());
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_NE(Hasher().add("abc").finish(), content_hash("abc"));
  EXPECT_NE(Hasher().add("").finish(), Hasher().finish());
}

TEST(Hash, ShortFormIsItsBeginning) { EXPECT_EQ(short_hash(content_hash("")), "0e5751c026e5"); }

}  // namespace
}  // namespace hone::base
