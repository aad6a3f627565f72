// Logs of compilers about calls that nobody wrote: what the kernel's author is told.
#include "hone/target/toolchain/call_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/target/cpu.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

using ::testing::HasSubstr;

kernel::Kernel two_launches(const char* language = "cuda") {
  const std::string block = std::string(language) == "c++" ? "" : "block = [\"32\"]\n";
  return kernel::parse_kernel(fmt::format("/* hone\nlanguage = \"{0}\"\n[[launch]]\nkernel = \"k\"\ngrid = [\"N\"]\n{1}args = [\"x\", \"y\"]\n[[launch]]\ngrid = [\"N\"]\n"
                                          "kernel = \"other\"\n{1}args = [\"x\", \"y\"]\n*/\nvoid k() {{}}\n", language, block), "kernel").value();
}
const CallsFile kCalls{"calls.cc", 1};

TEST(CallError, ALaunchIsFoundInTheHeader) {
  EXPECT_EQ(launch_line(two_launches(), 0, "kernel.cu"), "kernel.cu:4");
  EXPECT_EQ(launch_line(two_launches(), 1, "kernel.cu"), "kernel.cu:10");
  EXPECT_EQ(launch_line(two_launches(), 2, "kernel.cu"), "the header");
}

TEST(CallError, IsToldByTheKernelsOwnLines) {
  const kernel::Kernel kernel = two_launches();
  EXPECT_EQ(call_error("calls.cc:1:99: error: no matching function for call to 'k'\nkernel.cu:9:17: note: candidate function not viable: requires 1 "
                       "argument, but 2 were provided\n", kernel, kCalls, "kernel.cu"),
            "kernel.cu:9: the launch of k (kernel.cu:4) gives it 2 arguments, which it does not take: candidate function not viable: requires 1 argument, but 2 were provided");
  EXPECT_EQ(call_error("calls.cc:2:9: error: use of undeclared identifier 'other'; did you mean 'k'?\n", kernel, kCalls, "kernel.cu"),
            "kernel.cu:10: the launch of other has no __global__ function of that name; did you mean 'k'?");
  EXPECT_EQ(call_error("kernel.cu:3:1: error: unknown type name 'x'\ncalls.cc:1:1: error: no k\n", kernel, kCalls, "kernel.cu"), "");
  EXPECT_EQ(call_error("calls.cc:77:1: error: out of range\n", kernel, kCalls, "kernel.cu"), "");
  EXPECT_EQ(without_calls("calls.cc: In function 'f':\ncalls.cc:2:9: error: e\n    2 | other(a[0]);\n      |   ^~\ncalls.cc:2:1: note: n\n   2 | x\nkernel.cu:1:1: note: calls.cc:1 stays\n    1 | /* hone\n", kernel, kCalls, "kernel.cu"),
            "kernel.cu:10, the launch of other: error: e\nkernel.cu:1:1: note: calls.cc:1 stays\n    1 | /* hone\n");
}

/// Of both compilers, with what they really say.
TEST(CallError, NoCompilersWordsNameWhatNobodyWrote) {
  const auto toolchain = cpp_toolchain();
  if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
  const auto task = task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=8"}).value();
  std::vector<std::string> compilers = {""};
  for (const std::string& other : (*toolchain)->other_compilers()) compilers.push_back(other);
  for (const std::string& compiler : compilers) {
    const auto failure = [&](const std::string& function, const std::string& source) {
      const std::string built_by = compiler.empty() ? "" : fmt::format("compiler = \"{}\"\n", compiler);
      const auto kernel = kernel::parse_kernel(fmt::format("/* hone\nlanguage = \"c++\"\n{}[[launch]]\nkernel = \"{}\"\ngrid = [\"1\"]\nargs = [\"x\", \"y\", \"i64:N\"]\n*/\n{}\n", built_by, function, source), "kernel").value();
      const auto built = (*toolchain)->build(kernel, task, {{"N", 8}}, {});
      EXPECT_TRUE(built && std::holds_alternative<BuildFailure>(*built));
      const BuildFailure& said = std::get<BuildFailure>(*built);
      EXPECT_EQ((said.reason + said.log).find("entries.cc:"), std::string::npos) << said.reason << "\n" << said.log;
      EXPECT_THAT(said.reason, HasSubstr(compiler.empty() ? "kernel.cc:4" : "kernel.cc:5")) << compiler;
      EXPECT_EQ(said.log.find("argument unused"), std::string::npos) << said.log;
      EXPECT_EQ(said.log.find("linker"), std::string::npos) << said.log;
      return said.reason;
    };
    const std::string right = "void twice(const float* x, float* y, int64_t n, int64_t block) { for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }";
    EXPECT_THAT(failure("twiec", right), HasSubstr("the launch of twiec has no function of that name"));
    EXPECT_THAT(failure("twice", "void twice(const float* x, float* y, int64_t n) { y[0] = x[n - 1]; }"), HasSubstr("gives it 3 arguments and the index of the block, which it does not take"));
    EXPECT_THAT(failure("twice", "void twice(float* x, const float* y, int64_t n, int64_t block) { x[0] = y[n - 1]; }"), HasSubstr("which it does not take"));
  }
}

}  // namespace
}  // namespace hone::target
