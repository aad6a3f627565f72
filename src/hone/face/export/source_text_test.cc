#include "hone/face/export/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/embedded.h"

namespace hone::face {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

MovedSource moved(std::string_view source, const std::set<std::string>& functions = {}) {
  auto result = move_source(source, "k.cc", functions, {"LEAVE", "ENTER"});
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  return result.value_or(MovedSource{});
}

std::vector<std::string> of_kind(std::string_view source, CppToken kind) {
  std::vector<std::string> texts;
  for (const CppPiece& piece : tokenize_cpp(source))
    if (piece.kind == kind) texts.push_back(piece.text);
  return texts;
}

TEST(TokenizeCpp, KeepsEveryByte) {
  std::vector<std::string> sources = {"", "\"open", "'", "R\"x(", "/*", "#", "a\\", "1'000e+5.f 'x' u8\"y\" R\"(a\"b)\"",
                                      "#define A \\\r\n 1\r\nint x;", "\\\n#if\n", "\xc3\xa9t\xc3\xa9"};
  for (const auto name : base::list_embedded("include/")) sources.emplace_back(*base::find_embedded(name));
  for (const std::string& source : sources) {
    std::string joined;
    for (const CppPiece& piece : tokenize_cpp(source)) joined += piece.text;
    EXPECT_EQ(joined, source);
  }
}

TEST(TokenizeCpp, TellsKindsApart) {
  EXPECT_THAT(of_kind("1'000 + 0x1p-3f + a'b'", CppToken::kNumber), ElementsAre("1'000", "0x1p-3f"));
  EXPECT_THAT(of_kind("x = \"a\\\"b\" 'c' R\"q(\")q\";", CppToken::kLiteral),
              ElementsAre("\"a\\\"b\"", "'c'", "R\"q(\")q\""));
  EXPECT_THAT(of_kind("int a; // x\n/* y\n*/ b", CppToken::kComment), ElementsAre("// x", "/* y\n*/"));
  EXPECT_THAT(of_kind("#define A \\\n 2\n x # y\n  #if /* \n */ 1\n", CppToken::kDirective),
              ElementsAre("#define A \\\n 2", "#if /* \n */ 1"));
}

TEST(UsesWord, SeesCodeAndMacrosOnly) {
  EXPECT_TRUE(uses_word(tokenize_cpp("hone::load(x)"), "hone"));
  EXPECT_TRUE(uses_word(tokenize_cpp("#define F hone::exp"), "hone"));
  EXPECT_FALSE(uses_word(tokenize_cpp("/* hone */ \"hone\"; honest // hone"), "hone"));
}

TEST(MoveSource, TakesIncludesOut) {
  const MovedSource m = moved("#pragma once\n#include <cmath>\nint a;\n# include \"hone/cpu.h\" // x\nint b;\n");
  EXPECT_THAT(m.system, ElementsAre("<cmath>"));
  EXPECT_THAT(m.hone, ElementsAre("hone/cpu.h"));
  EXPECT_EQ(m.text, "int a;\nint b;\n");
}

TEST(MoveSource, LeavesTheNamespaceForAConditionalInclude) {
  EXPECT_EQ(moved("#ifdef __AVX512F__\n#include <immintrin.h>\n#endif\n").text,
            "#ifdef __AVX512F__\nLEAVE\n#include <immintrin.h>\nENTER\n#endif\n");
  const auto inside = move_source("void f() {\n#if A\n#include <x>\n#endif\n}", "k.cc", {}, {});
  ASSERT_FALSE(inside.has_value());
  EXPECT_EQ(inside.error().context, "k.cc:3");
}

TEST(MoveSource, RefusesWhatStaysBehind) {
  for (const char* source : {"\n#include \"mine.h\"\n", "\n#include NAME\n"}) {
    const auto result = move_source(source, "k.cc", {}, {});
    ASSERT_FALSE(result.has_value()) << source;
    EXPECT_EQ(result.error().context, "k.cc:2");
    EXPECT_EQ(result.error().code, ErrorCode::kInput);
  }
}

TEST(MoveSource, ListsMacros) {
  EXPECT_THAT(moved("#define A 1\n#  define F(x) x\n#undef A\n#define A 2\n").macros, ElementsAre("A", "F"));
}

TEST(MoveSource, TakesCLinkageFromWhatIsDefined) {
  EXPECT_EQ(moved("extern \"C\" void f(int a) { g(a); }").text, "void f(int a) { g(a); }");
  EXPECT_EQ(moved("extern \"C\" void f(int);\nextern \"C\" void f(int) {}").text, "void f(int);\nvoid f(int) {}");
  EXPECT_EQ(moved("extern \"C\" {\nvoid f() {}\n}").text, "namespace {\nvoid f() {}\n}");
  EXPECT_EQ(moved("extern \"C\" __attribute__((noinline)) void f();", {"f"}).text,
            "__attribute__((noinline)) void f();");
  EXPECT_EQ(moved("#define K(n) extern \"C\" void n\n").text, "#define K(n) void n\n");
}

TEST(MoveSource, KeepsCLinkageOfWhatIsElsewhere) {
  for (const char* source : {"extern \"C\" double exp(double);", "extern \"C\" {\ndouble exp(double);\n}",
                             "extern \"C\" int count;", "// extern \"C\" void f() {}", "extern template class X<int>;"})
    EXPECT_EQ(moved(source).text, source);
}

}  // namespace
}  // namespace hone::face
