#include "hone/agent/difference.h"

#include <gtest/gtest.h>

namespace hone::agent {
namespace {

TEST(Difference, has_the_lines_that_changed_and_where) {
  const std::string before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\nthirteen\n";
  std::string after = before;
  after.replace(after.find("six"), 3, "6");
  EXPECT_EQ(difference(before, after), " five\n-six\n+6\n");
  EXPECT_EQ(difference(before, before), "");
  EXPECT_EQ(difference(before, before + "more\n"), " thirteen\n+more\n");
  EXPECT_FALSE(difference("a\nb\nc\n", "d\ne\nf\n")) << "another text is shown whole";
  EXPECT_FALSE(difference("", "a\n"));
}

}  // namespace
}  // namespace hone::agent
