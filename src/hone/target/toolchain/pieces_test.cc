#include "hone/target/toolchain/pieces.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "hone/target/bundle.h"

namespace hone::target {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

kernel::Kernel kernel_of(const std::string& body) {
  const std::string head = R"hone(/* hone
language = "cuda"
tunables = { BLOCK_1 = [128], BLOCK_2 = [64], WIDE = [4] }
specialise = ["N"]
[[launch]]
kernel = "part_1::twist"
grid   = ["N"]
block  = ["BLOCK_1"]
args   = ["x", "y"]
[[launch]]
kernel = "part_2::turn"
grid   = ["N"]
block  = ["BLOCK_2"]
args   = ["x", "y"]
*/
)hone";
  return kernel::parse_kernel(head + body, "k.cu").value();
}

constexpr const char* kOutside = "#include \"hone/gpu/math.h\"  // of all\n#pragma once\n";
constexpr const char* kFirst = "namespace part_1 {\n#define BLOCK BLOCK_1\nconst char* brace = \"}\\\"{\"; // }\nint digit = '}' + 1'000;\n/* } */ void twist() { }\n#undef BLOCK\n}  // namespace part_1\n";
constexpr const char* kSecond = "namespace part_2 {\n#define BLOCK BLOCK_2\n#pragma unroll\nint wide[WIDE], n = N;\nvoid turn() { }\n#undef BLOCK\n}\n";

int line_of(const std::string& text, const std::string& what) { return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n')); }

TEST(Pieces, ANamespaceComesWithWhatItNamesOnItsOwnLines) {
  const kernel::Kernel whole = kernel_of(std::string(kOutside) + kFirst + kSecond);
  const std::vector<kernel::Kernel> pieces = pieces_of(whole);
  ASSERT_EQ(pieces.size(), 2);
  EXPECT_THAT(pieces[0].source, AllOf(HasSubstr("#include \"hone/gpu/math.h\""), HasSubstr("twist"), Not(HasSubstr("turn")), Not(HasSubstr("tunables"))));
  EXPECT_THAT(pieces[1].source, AllOf(HasSubstr("turn() { }"), Not(HasSubstr("twist"))));
  EXPECT_EQ(line_of(pieces[1].source, "void turn"), line_of(whole.source, "void turn"));
  EXPECT_EQ(line_of(pieces[1].source, "#include"), line_of(whole.source, "#include"));
  EXPECT_THAT(pieces[0].config, ElementsAre(Key("BLOCK_1")));
  EXPECT_THAT(pieces[1].config, ElementsAre(Key("BLOCK_2"), Key("WIDE")));
  EXPECT_THAT(pieces[0].header.specialise, IsEmpty());
  EXPECT_THAT(pieces[1].header.specialise, ElementsAre("N"));
  ASSERT_EQ(pieces[1].header.launches.size(), 1);
  EXPECT_EQ(pieces[1].header.launches[0].function, "part_2::turn");
}

TEST(Pieces, ApartItSaysTheSameOrItIsNotTakenApart) {
  const auto pieces = [](const std::string& outside, const std::string& first, const std::string& second) { return pieces_of(kernel_of(outside + first + second)).size(); };
  const std::string closed = "}\n";
  const auto in_second = [](const std::string& what) { return "namespace part_2 {\n" + what + "\nvoid turn() { }\n}\n"; };
  EXPECT_EQ(pieces(kOutside, kFirst, kSecond), 2);
  EXPECT_EQ(pieces("__device__ int shared_by_all;\n", kFirst, kSecond), 0);
  EXPECT_EQ(pieces("using namespace part_1;\n", kFirst, kSecond), 0);
  EXPECT_EQ(pieces("#if WIDE\n#endif\n", kFirst, kSecond), 0);
  EXPECT_EQ(pieces("#define OTHER part_1::twist\n", kFirst, kSecond), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("void f() { part_1::twist(); }")), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("#define LEFT 1")), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("#undef LEFT")), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("#define LONG 1 \\\n + 1\n#undef LONG")), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("#ifdef BLOCK_1\n#endif")), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("const char* raw = R\"(})\";")), 0);
  EXPECT_EQ(pieces("", kFirst, in_second("{")), 0);
  EXPECT_EQ(pieces("", kFirst, kSecond + closed), 0);
  EXPECT_EQ(pieces("", kFirst, "void turn() { }\n"), 0);
  EXPECT_EQ(pieces("", kFirst, "namespace { void turn() { } }\n"), 0);
  EXPECT_EQ(pieces("/* not closed", kFirst, kSecond), 0);
  EXPECT_EQ(pieces("", std::string("namespace part_1 { int early; }\n") + kFirst, kSecond), 2);
}

TEST(Bundle, ReadsBackAndNeverBeyondItsEnd) {
  const std::vector<std::string> images = {"first", std::string(1000, '\0'), ""};
  const std::string file = bundled(images);
  EXPECT_THAT(binaries_in(file), ElementsAre(images[0], images[1], images[2]));
  EXPECT_THAT(binaries_in("\x7F" "ELF"), ElementsAre("\x7F" "ELF"));
  for (size_t length = kBundleMark.size(); length < file.size(); ++length)
    for (const std::string_view image : binaries_in(std::string_view(file).substr(0, length))) EXPECT_LE(image.size(), length);
  EXPECT_THAT(binaries_in(std::string_view(file).substr(0, file.size() / 2)), IsEmpty());
  std::string huge(kBundleMark);
  huge.append(8, '\xFF');
  EXPECT_THAT(binaries_in(huge), IsEmpty());
}

}  // namespace
}  // namespace hone::target
