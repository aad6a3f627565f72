#include "hone/face/report/highlight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "hone/face/report/testing/html_check.h"

namespace hone::face::report {
namespace {

using ::testing::HasSubstr;
using testing::HtmlCheck;

/// The text that is left of the markup.
std::string text_of(const Markup& markup) {
  const std::string page = "<!doctype html><pre>" + markup.html + "</pre>";
  const HtmlCheck check(page);
  EXPECT_EQ(check.problem(), "");
  return check.text();
}

TEST(Highlight, Words) {
  const std::string html = highlight("const int64_t n = TILE * 4; // <n>", "c++", {"TILE"}).html;
  EXPECT_THAT(html, HasSubstr("<i class=\"k\">const</i>"));
  EXPECT_THAT(html, HasSubstr("<i class=\"t\">int64_t</i>"));
  EXPECT_THAT(html, HasSubstr("<i class=\"u\">TILE</i>"));
  EXPECT_THAT(html, HasSubstr("<i class=\"n\">4</i>"));
  EXPECT_THAT(html, HasSubstr("<i class=\"c\">// &lt;n&gt;</i>"));
}

TEST(Highlight, HeaderIsToml) {
  const std::string html = highlight("/* hone\nlanguage = \"c++\"\n*/\nint x;", "c++", {}).html;
  EXPECT_THAT(html, HasSubstr("<i class=\"k\">language</i> = <i class=\"s\">&quot;c++&quot;</i>"));
}

TEST(Highlight, CommentsCloseAtTheEndOfEachLine) {
  EXPECT_THAT(highlight("/* a\nb */", "c++", {}).html,
              HasSubstr("<i class=\"c\">/* a</i>\n</span><span class=\"line\"><i class=\"c\">b */</i>"));
}

TEST(Highlight, PythonHasItsOwnComments) {
  EXPECT_THAT(highlight("def f():  # a // b", "triton", {}).html, HasSubstr("<i class=\"c\"># a // b</i>"));
}

TEST(Highlight, WhateverComesInComesOut) {
  for (const std::string source : {"", "\"open", "/* open", "/* hone\nx = \"open", "'", "\\", "\"\\", "#",
                                   "1e+", "\"\"\"", "/* hone */", "a\n\n\nb"}) {
    for (const char* language : {"c++", "triton", "unheard of"})
      EXPECT_EQ(text_of(highlight(source, language, {})), source) << language;
  }
}

TEST(Highlight, RandomTextStaysWellFormed) {
  base::Rng rng(3);
  const std::string_view letters = "/*hone\"'#\\\n ab1.e+-=<>&{}()_";
  for (int round = 0; round < 2000; ++round) {
    std::string source;
    for (uint64_t n = rng.below(60); n > 0; --n) source += letters[rng.below(letters.size())];
    while (source.ends_with('\n')) source.pop_back();
    ASSERT_EQ(text_of(highlight(source, round % 2 ? "cuda" : "triton", {"a"})), source);
  }
}

}  // namespace
}  // namespace hone::face::report
