#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hone/kernel/kernel.h"
#include "hone/kernel/write_header.h"

namespace hone::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSource = R"hone(/* hone
# what a person wrote stays
language = "c++"
tunables = { ROWS = [4, 1, 16] }
note     = "a row at a time"

[[launch]]
kernel = "f"
grid   = ["ceil_div(B, ROWS)"]
args   = ["x", "y", "i64:B"]
*/
void f(const float*, float*, int64_t, int64_t) {}
)hone";

Kernel parsed(const std::string& source) {
  auto kernel = parse_kernel(source, "k.cc");
  if (!kernel) throw std::runtime_error(kernel.error().to_string());
  return *kernel;
}

Verified verified() {
  return {"softmax", "abc", "cpu", "A \"CPU\" \\ */ of ours", "g++ 12.2.0", {"B=4 D=5", "B=1 D=7"}, "2026-11-22", "0.1.0"};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Header, IsLookedAtBeforeTomlReadsIt) {
  for (const std::string& bad : {std::string("x = ") + std::string(100'000, '['), std::string("[!]"), std::string("x = \"\xff\"")}) {
    const std::string source = replaced(kSource, "[[launch]]", bad);
    const auto kernel = parse_kernel(source, "k.cc");
    ASSERT_FALSE(kernel.has_value());
    EXPECT_THAT(kernel.error().to_string(), HasSubstr("k.cc:7:"));
    EXPECT_EQ(without_marks(source), source);
    EXPECT_FALSE((Kernel{source, {}, {}, {}, {}}).hash().empty());
  }
}

// They reach the source as macros, and what hone writes by itself.
TEST(Header, TunablesAndWorkspacesHaveNames) {
  for (const char* line : {"tunables = { \"\" = [4] }", "tunables = { \"A B\" = [4] }", "tunables = { 4 = [4] }",
                           "workspaces = { \"\" = \"f32[B]\" }", "workspaces = { a-b = \"f32[B]\" }"}) {
    const auto kernel = parse_kernel(replaced(kSource, "tunables = { ROWS = [4, 1, 16] }", line), "k.cc");
    ASSERT_FALSE(kernel) << line;
    EXPECT_THAT(kernel.error().to_string(), HasSubstr("is called")) << line;
  }
}

TEST(Header, AWorkspaceMayBeOneNumber) {
  const Kernel kernel = parsed(replaced(kSource, "tunables = { ROWS = [4, 1, 16] }", "tunables = { ROWS = [4, 1, 16] }\nworkspaces = { sum = \"f32[]\" }"));
  ASSERT_EQ(kernel.header.workspaces.size(), 1U);
  EXPECT_TRUE(kernel.header.workspaces.front().type.dims.empty());
  EXPECT_THAT(header_comment(kernel.header), HasSubstr("sum = \"f32[]\""));
}

TEST(KernelFile, CarriesWhereItWasVerified) {
  const Kernel kernel = parsed(with_verified(kSource, verified()));
  ASSERT_TRUE(kernel.header.verified.has_value());
  const Verified& v = *kernel.header.verified;
  EXPECT_EQ(v.task, "softmax");
  EXPECT_EQ(v.device, "A \"CPU\" \\ * / of ours");  // a mark that would end the comment is broken up
  EXPECT_EQ(v.toolchain, "g++ 12.2.0");
  EXPECT_THAT(v.shapes, ElementsAre("B=4 D=5", "B=1 D=7"));
  EXPECT_EQ(v.date, "2026-11-22");
  EXPECT_EQ(kernel.header.launches.size(), 1u);
}

TEST(KernelFile, VerifiedAgainReplacesTheNote) {
  Verified later = verified();
  later.date = "2027-01-01";
  const std::string twice = with_verified(with_verified(kSource, verified()), later);
  EXPECT_EQ(twice, with_verified(kSource, later));
}

TEST(KernelFile, TakesTheNoteOutBetweenOtherTables) {
  const std::string between = replaced(kSource, "[[launch]]", "[verified]\ntask = \"t\"\ntask_hash = \"\"\ntarget = \"cpu\"\ndevice = \"d\"\n"
                                                              "toolchain = \"g++\"\ndate = \"\"\n\n[[launch]]");
  EXPECT_EQ(parsed(between).header.verified->device, "d");
  EXPECT_EQ(with_verified(between, verified()), with_verified(kSource, verified()));
}

TEST(KernelFile, NameIsThatOfTheKernelItHolds) {
  Kernel kernel = parsed(kSource);
  kernel.config["ROWS"] = 16;
  const std::string file = with_verified(with_config(kernel, kernel.config), verified());
  EXPECT_THAT(file, HasSubstr("# what a person wrote stays"));
  EXPECT_EQ(parsed(file).hash(), kernel.hash());
  EXPECT_NE(parsed(kSource).hash(), kernel.hash());
}

TEST(KernelFile, NameFollowsCodeAndMeaning) {
  const std::string name = parsed(kSource).hash();
  EXPECT_NE(parsed(replaced(kSource, "void f(", "void  f(")).hash(), name);
  EXPECT_NE(parsed(replaced(kSource, "a row", "two rows")).hash(), name);
  EXPECT_NE(parsed(replaced(kSource, "\"i64:B\"", "\"i32:B\"")).hash(), name);
  EXPECT_NE(parsed(replaced(kSource, "tunables =", "requires = [\"B > 1\"]\ntunables =")).hash(), name);
  // Layout of the header is not meaning.
  EXPECT_EQ(parsed(replaced(kSource, "note     =", "note =")).hash(), name);
}

TEST(KernelFile, NothingHidesBehindTheNote) {
  // What looks like the note's table inside a text is text: what follows it counts.
  const std::string a = replaced(kSource, "\"a row at a time\"", "'''\n[verified]\n'''\nrequires = [\"B > 1\"]");
  const std::string b = replaced(kSource, "\"a row at a time\"", "'''\n[verified]\n'''\nrequires = [\"B > 2\"]");
  EXPECT_NE(parsed(a).hash(), parsed(b).hash());
}

TEST(KernelFile, ConfigurationAsATableBecomesALine) {
  const std::string table = replaced(kSource, "[[launch]]", "[config]\nROWS = 1\n\n[[launch]]");
  Kernel kernel = parsed(table);
  EXPECT_EQ(kernel.config.at("ROWS"), 1);
  kernel.config["ROWS"] = 16;
  const std::string file = with_config(kernel, kernel.config);
  EXPECT_EQ(parsed(file).config.at("ROWS"), 16);
  EXPECT_THAT(file, Not(HasSubstr("[config]")));
}

TEST(KernelFile, AnotherCompilerIsAnotherKernel) {
  Kernel kernel = parsed(kSource);
  kernel.config["ROWS"] = 16;
  const Kernel twin = with_compiler(kernel, "clang");
  EXPECT_NE(twin.hash(), kernel.hash());
  EXPECT_EQ(twin.config, kernel.config);
  EXPECT_THAT(twin.source, HasSubstr("# what a person wrote stays"));
  const Kernel again = parsed(twin.source);
  EXPECT_EQ(again.header.compiler, "clang");
  EXPECT_EQ(with_compiler(again, "g++").header.compiler, "g++");
  EXPECT_EQ(parsed(with_compiler(again, "g++").source).header.compiler, "g++");
  EXPECT_EQ(parsed(kSource).header.compiler, "");
}

TEST(KernelFile, ACompilerThatIsNotKnownIsAUsersMistake) {
  const auto unknown = parse_kernel(replaced(kSource, "note     =", "compiler = \"icc\"\nnote ="), "k.cc");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("k.cc:5"));
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("one of g++, clang"));
  const auto cuda = parse_kernel(replaced(kSource, "language = \"c++\"", "language = \"cuda\"\ncompiler = \"clang\""), "k.cu");
  ASSERT_FALSE(cuda.has_value());
  EXPECT_THAT(cuda.error().to_string(), HasSubstr("\"compiler\" is for c++, not for cuda"));
}

TEST(KernelFile, ANoteThatLacksSomethingIsAUsersMistake) {
  const auto kernel = parse_kernel(replaced(kSource, "[[launch]]", "[verified]\ntask = \"t\"\n\n[[launch]]"), "k.cc");
  ASSERT_FALSE(kernel.has_value());
  EXPECT_EQ(kernel.error().code, ErrorCode::kInput);
  EXPECT_THAT(kernel.error().to_string(), HasSubstr("\"task_hash\" is missing"));
}

TEST(HeaderText, what_hone_writes_is_taken_out_and_nothing_else) {
  const std::string marked = with_verified("/* hone\nlanguage = \"c++\"\npattern  = \"rows\"\naction = \"x\"\nnote = \"pattern = 3\"\n[[launch]]\nkernel = \"f\"\n"
                                           "grid = [\"1\"]\nargs = [\"x\"]\n*/\nvoid f(float* pattern) {}\n", verified());
  const Kernel kernel = parsed(without_marks(marked));
  EXPECT_TRUE(kernel.header.pattern.empty());
  EXPECT_TRUE(kernel.header.action.empty());
  EXPECT_FALSE(kernel.header.verified);
  EXPECT_EQ(kernel.header.note, "pattern = 3");
  EXPECT_EQ(kernel.header.launches.size(), 1U);
  EXPECT_NE(kernel.source.find("float* pattern"), std::string::npos);
  EXPECT_EQ(without_marks("nothing"), "nothing");
}

TEST(Grid, WhatNoCardLaunchesDoesNotApply) {
  const task::Task task = task::task_from_expressions("y = x * 2", {"x=f32[B,D]"}, {"B=64,D=256"}).value();
  const auto applies_at = [&](const std::string& language, const std::string& launch, int64_t rows) {
    const auto kernel = parse_kernel("/* hone\nlanguage = \"" + language + "\"\n[[launch]]\nkernel = \"f\"\n" + launch + "args = [\"x\", \"y\"]\n*/\n", "k");
    EXPECT_TRUE(kernel) << kernel.error().to_string();
    return applies(*kernel, {{"B", rows}, {"D", 1}}, {{"SMS", 132}}).value();
  };
  const std::string along_y = "grid = [\"1\", \"B\"]\nblock = [\"128\"]\n";
  EXPECT_TRUE(applies_at("cuda", along_y, 65535));
  EXPECT_FALSE(applies_at("cuda", along_y, 65536));
  EXPECT_FALSE(applies_at("hip", along_y, 65536));
  EXPECT_TRUE(applies_at("cuda", "grid = [\"B\"]\nblock = [\"128\"]\n", 65536));
  EXPECT_TRUE(applies_at("cuda", "when = \"B < 100\"\n" + along_y, 65536)) << "not launched there";
  EXPECT_TRUE(applies_at("c++", "grid = [\"1\", \"B\"]\n", 65536));
  const auto kernel = parse_kernel("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"f\"\n" + along_y + "args = [\"x\", \"y\"]\n*/\n", "k");
  const auto plan = bind(*kernel, task, {{"B", 70000}, {"D", 1}}, {});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().to_string().find("70000 blocks along y"), std::string::npos) << plan.error().to_string();
}

}  // namespace
}  // namespace hone::kernel
