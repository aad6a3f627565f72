#include "hone/face/report/html.h"

#include <gtest/gtest.h>

namespace hone::face::report {
namespace {

TEST(Html, StringsAreEscapedMarkupIsNot) {
  Html out;
  out.add("<td title=\"{}\">{} {} {}</td>", "a\"b", std::string("<b>"), Markup{"<i>x</i>"}, 7);
  EXPECT_EQ(out.text(), "<td title=\"a&quot;b\">&lt;b&gt; <i>x</i> 7</td>");
}

TEST(Html, BracesInValuesAreNoFormat) { EXPECT_EQ(markup("{}", "{} {0} }}{{").html, "{} {0} }}{{"); }

TEST(Escape, Brackets) { EXPECT_EQ(escape("</script>&amp;'"), "&lt;/script&gt;&amp;amp;&#39;"); }

TEST(Escape, ControlCharactersBecomePictures) {
  EXPECT_EQ(escape(std::string_view("\0\x1B\x7F", 3)), "\u2400\u241B\u2421");
  EXPECT_EQ(escape("a\tb\nc\r\nd\re"), "a\tb\nc\nd\u240De");
  EXPECT_EQ(escape("\u0085"), "\u27E8U+0085\u27E9");
}

TEST(Escape, WhatIsNotUtf8IsReplaced) {
  const std::string bad = "\uFFFD";
  EXPECT_EQ(escape("\xFF"), bad);
  EXPECT_EQ(escape("\xC3("), bad + "(");
  EXPECT_EQ(escape("\xE2\x82"), bad + bad) << "cut short";
  EXPECT_EQ(escape("\xC0\xAF"), bad + bad) << "overlong";
  EXPECT_EQ(escape("\xED\xA0\x80"), bad + bad + bad) << "surrogate";
  EXPECT_EQ(escape("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond U+10FFFF";
  EXPECT_EQ(escape("µ\u2009\U0001F527"), "µ\u2009\U0001F527");
}

TEST(Escape, TextThatReordersTextIsNamed) {
  EXPECT_EQ(escape("a\u202Eb"), "a\u27E8U+202E\u27E9b");
  EXPECT_EQ(escape("\u2066"), "\u27E8U+2066\u27E9");
}

}  // namespace
}  // namespace hone::face::report
