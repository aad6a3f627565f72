#include "hone/target/toolchain/source_check.h"

#include <gmock/gmock.h>

namespace hone::target {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SourceCheck, TakesOrdinaryText) {
  for (const char* text : {"void f(float* y) { y[0] = 1'000.5f; char c = '\"'; const char* s = \"asm\"; }", "int assembly, asm_, my__asm__;",
                           "[[nodiscard]] [[gnu::target(\"avx512f,arch=x86-64-v4\")]] int g();", "__attribute__((always_inline)) int g();",
                           "template <int N> [[deprecated(\"use g\")]] void h();", "int a[2][2]; int b = a[[](int i) { return i; }(0)][1];",
                           "auto s = R\"x(asm(\"nop\");)x\";"})
    EXPECT_THAT(refuse_text(text), IsEmpty()) << text;
}

TEST(SourceCheck, AnEmptyStatementIsNoAssembly) {
  for (const char* text : {"asm(\"\");", "__asm__ __volatile__(\"\" : : : \"memory\");", "asm volatile(\"\" \"\" : \"+x\"(v));", "asm goto(\"\" : : : : out);"})
    EXPECT_THAT(refuse_text(text), IsEmpty()) << text;
}

TEST(SourceCheck, AnEmptyStatementWritesNothing) {
  for (const char* text : {"asm volatile(\"\" : \"=a\"(a), \"=b\"(b));", "asm(\"\" : [x] \"=&r\"(x) : : \"memory\");", "asm(\"\" : \"=m\"(local));"})
    EXPECT_THAT(refuse_text(text), HasSubstr("whatever was there before")) << text;
  EXPECT_THAT(refuse_text("asm(\"\" : \"=r\"(x) : \"0\"(y));"), IsEmpty());
}

TEST(SourceCheck, RefusesWhatHangsOnOtherFiles) {
  for (const char* text : {"#if __has_include(\"/etc/x\")", "#if defined(A) && \\\n __has_include(<x>)", "#define HAS __has_include", "/* a\n*/ # elif __has_include_next(<x>)",
                           "const char seed[] = {\n#embed \"/dev/urandom\" limit(4)\n};", "%:/* */ embed <x>"})
    EXPECT_THAT(refuse_directives(text), HasSubstr("which files")) << text;
  for (const char* text : {"// uses __has_include nowhere", "#define embedding 3", "#if has_include"}) EXPECT_THAT(refuse_directives(text), IsEmpty()) << text;
}

TEST(SourceCheck, RefusesAssembly) {
  for (const char* text : {"asm(\"nop\");", "if (x) asm volatile(\"movl $1, (%0)\" : : \"r\"(p));", "__asm(\"\" \"syscall\");", "asm(R\"(nop)\");",
                           "__asm__(u8\"nop\");", "asm((kText));", "asm();", "extern int x asm(\"other\");", "register long r asm(\"rsp\");", "asm"})
    EXPECT_THAT(refuse_text(text), HasSubstr("inline assembly")) << text;
}

TEST(SourceCheck, RefusesAssemblyInsideAttributes) {
  for (const char* text : {"__attribute__((section(\".x,\\\"aw\\\"#\"))) int a;", "[[gnu::section(\".text\\nsyscall\")]] int a;",
                           "[[gnu::alias(R\"(f\nsyscall)\")]] void g();", "__attribute__((symver(\"a@b; nop\"))) void g();",
                           "__attribute((used, section(\"a;b\"))) int c;"})
    EXPECT_THAT(refuse_text(text), HasSubstr("attribute")) << text;
}

TEST(SourceCheck, RefusesQuestionsToTheCompiler) {
  EXPECT_THAT(refuse_text("int f(int n) { return __builtin_constant_p(n) ? 1 : 2; }"), HasSubstr("__builtin_constant_p"));
  EXPECT_THAT(refuse_text("long f(char* p) { return __builtin_object_size(p, 0); }"), HasSubstr("__builtin_object_size"));
  EXPECT_THAT(refuse_text("bool f() { return (long)__builtin_frame_address(0) & 64; }"), HasSubstr("__builtin_frame_address"));
}

TEST(SourceCheck, HeadersAreTrusted) {
  EXPECT_THAT(refuse_text("# 1 \"/usr/include/x.h\" 1 3\nasm(\"nop\");\n# 2 \"kernel.cc\" 2\nint a;\n"), IsEmpty());
  // What a header's macro becomes is the kernel's.
  EXPECT_THAT(refuse_text("# 1 \"/usr/include/x.h\" 1 3\nint a;\n# 2 \"kernel.cc\" 3 4\nasm(\"cpuid\");\n"), HasSubstr("cpuid"));
}

TEST(SourceCheck, RefusesLinesThatSayWhoseTheyAre) {
  for (const char* text : {"#line 1 \"/usr/include/x.h\"", "int a;\n  # 1 \"/x.h\" 3", "/* a */ %:line 7", "/* a\n b */ # line 7", "#/* a */line 7",
                           "#\\\nline 7", "# /* a\n*/ line 7", "#li\\\nne 3"})
    EXPECT_THAT(refuse_directives(text), HasSubstr("#line")) << text;
  for (const char* text : {"#include <immintrin.h>", "#define line 7", "int a; // variant #2", "/* of\n   #1 the first\n*/", "#if 1\n#endif", "#pragma once", "#",
                           "#linear"})
    EXPECT_THAT(refuse_directives(text), IsEmpty()) << text;
}

TEST(SourceCheck, EndsOnAnything) {
  for (const char* text : {"\"", "'", "R\"(", "R\"", "\"\\", "asm(", "[[", "__attribute__((\"", "# 1 \"", "asm(\"\"", "u8"}) (void)refuse_text(text);
  SUCCEED();
}

}  // namespace
}  // namespace hone::target
