// Which compiler builds a kernel. Programs that pretend to be compilers stand in for those that a
// machine may lack.
#include <gmock/gmock.h>

#include <cstdlib>

#include "hone/base/file.h"
#include "hone/target/toolchain/compilers.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kKernel = R"hone(/* hone
language = "c++"
COMPILER
[[launch]]
kernel = "twice"
grid   = ["B"]
args   = ["x", "y"]
*/
void twice(const float* x, float* y, int64_t i) { y[i] = 2 * x[i]; }
)hone";

kernel::Kernel kernel_for(const std::string& compiler) {
  std::string source = kKernel;
  source.replace(source.find("COMPILER"), 8, compiler.empty() ? "" : "compiler = \"" + compiler + "\"");
  return kernel::parse_kernel(source, "k.cc").value();
}

task::Task doubling() { return task::task_from_expressions("y = 2 * x", {"x=f32[B]"}, {"B=4"}).value(); }

/// A PATH of our own, in which g++ is there and clang is what the test says.
class Compilers : public testing::Test {
 protected:
  void SetUp() override {
    old_path_ = std::getenv("PATH");
    unsetenv("HONE_CXX");
    setenv("PATH", bin_.path().c_str(), 1);
    pretend("g++", "12.0.0", "g++ (Debian) 12.0.0");
  }
  void TearDown() override { setenv("PATH", old_path_.c_str(), 1); }

  void pretend(const std::string& name, const std::string& version, const std::string& words) {
    const auto file = bin_.path() / name;
    ASSERT_TRUE(base::write_file_atomic(file, "#!/bin/sh\ncase $1 in --version) echo '" + words +
                                                "';; -march=native) echo '#define __FMA__ 1'; echo '#define __AVX2__ 1'; echo '#define __STDC__ 1';; *) echo " + version + ";; esac\n"));
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  base::ScratchDirectory bin_ = std::move(base::ScratchDirectory::create("compilers").value());
  std::string old_path_;
};

TEST_F(Compilers, GccAloneHasNoOther) {
  const auto toolchain = cpp_toolchain().value();
  EXPECT_EQ(toolchain->name(), "g++ 12.0.0");
  EXPECT_THAT(toolchain->other_compilers(), IsEmpty());
}

TEST_F(Compilers, EachSaysWhichInstructionsItUses) {
  pretend("clang++-19", "19.1.7", "Debian clang version 19.1.7");
  EXPECT_THAT(native_extensions("g++"), ElementsAre("AVX2", "FMA"));
  EXPECT_THAT(native_extensions("no-such-compiler"), IsEmpty());
  EXPECT_EQ(cpp_toolchain().value()->extensions(), "g++ 12.0.0: AVX2 FMA\nclang++-19 19.1.7: AVX2 FMA\n");
}

TEST_F(Compilers, AKernelThatAsksForClangIsToldWhatToInstall) {
  const task::Task task = doubling();
  const auto built = cpp_toolchain().value()->build(kernel_for("clang"), task, task.workloads[0].bindings, {});
  ASSERT_FALSE(built.has_value());
  EXPECT_EQ(built.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(built.error().to_string(), HasSubstr("asks for the compiler clang, which is not installed"));
  EXPECT_THAT(built.error().to_string(), HasSubstr("apt-get install clang-"));
}

TEST_F(Compilers, TheNewestClangIsTheOther) {
  pretend("clang++-16", "16.0.6", "Debian clang version 16.0.6");
  pretend("clang++-19", "19.1.7", "Debian clang version 19.1.7");
  const auto toolchain = cpp_toolchain().value();
  EXPECT_EQ(toolchain->name(), "g++ 12.0.0, clang++-19 19.1.7");
  EXPECT_THAT(toolchain->other_compilers(), ElementsAre("clang"));
}

TEST_F(Compilers, AClangThatIsChosenHasGccBesideIt) {
  pretend("clang++-19", "19.1.7", "Debian clang version 19.1.7");
  setenv("HONE_CXX", (bin_.path() / "clang++-19").c_str(), 1);
  const auto toolchain = cpp_toolchain().value();
  EXPECT_EQ(toolchain->name(), "clang++-19 19.1.7, g++ 12.0.0");
  EXPECT_THAT(toolchain->other_compilers(), ElementsAre("g++"));
  unsetenv("HONE_CXX");
}

TEST_F(Compilers, AChoiceThatDoesNotRunIsAnError) {
  setenv("HONE_CXX", "/no/such/compiler", 1);
  const auto toolchain = cpp_toolchain();
  unsetenv("HONE_CXX");
  ASSERT_FALSE(toolchain.has_value());
  EXPECT_THAT(toolchain.error().to_string(), HasSubstr("/no/such/compiler"));
}

TEST(CompilersHere, EachKernelIsBuiltByTheOneItAsksFor) {
  const auto toolchain = cpp_toolchain().value();
  const task::Task task = doubling();
  const auto build = [&](const std::string& compiler) {
    return std::get<Build>(toolchain->build(kernel_for(compiler), task, task.workloads[0].bindings, {}).value());
  };
  const Build first = build("");
  for (const std::string& other : toolchain->other_compilers()) {
    const Build twin = build(other);
    EXPECT_THAT(twin.toolchain, HasSubstr(other));
    EXPECT_NE(twin.hash, first.hash);
    EXPECT_NE(twin.command.substr(0, twin.command.find(' ')), first.command.substr(0, first.command.find(' ')));
    EXPECT_EQ(build(other).toolchain, twin.toolchain);  // from the cache too
  }
}

}  // namespace
}  // namespace hone::target
