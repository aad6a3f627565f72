// What hone believes of a compiler that lies (test/triton/forging_python): nothing that the binary does not say too.
#include <gtest/gtest.h>

#include <cstdlib>

#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/triton.h"

namespace hone::target {
namespace {

std::string forged(const std::string& what, std::chrono::seconds deadline = std::chrono::seconds(60)) {
  const auto task = task::task_from_expressions("y = 2 * x", {"x=f32[1000]"}, {});
  const auto kernel = kernel::parse_kernel("# forge: " + what + "\n\"\"\"hone\nlanguage = \"triton\"\n[[launch]]\nkernel = \"k\"\ngrid = [\"8\"]\nargs = [\"x\", \"y\", \"i32:1000\", \"f32:2\", \"=128\"]\n\"\"\"\n", "k.py");
  auto toolchain = triton_toolchain("cuda:sm_90a");
  if (!task || !kernel || !toolchain) return "no toolchain";
  BuildOptions options;
  options.deadline = deadline;
  const auto outcome = (*toolchain)->build(*kernel, *task, {}, options);
  if (!outcome) return "error: " + outcome.error().message;
  if (const auto* failure = std::get_if<BuildFailure>(&*outcome)) return failure->reason;
  return "built";
}

class TritonForged : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_cuda()) GTEST_SKIP() << "no CUDA toolkit";
    setenv("HONE_TRITON_PYTHON", HONE_SOURCE_DIR "/test/triton/forging_python", 1);
  }
};

TEST_F(TritonForged, IsNotBelieved) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "built"},
      {"parameters", "error: the binary of k takes parameters of 8, 8, 4, 4, 8, 8, 8 bytes, its launch gives 8, 8, 4, 4, 8, 8"},
      {"narrow", "error: the binary of k takes parameters of 4, 8, 4, 4, 8, 8 bytes, its launch gives 8, 8, 4, 4, 8, 8"},
      {"threads", "error: the binary of k wants 64 threads, its launch gives 128"},
      {"name", "error: the launch of k has no __global__ function of that name; there is another"},
      {"symbol", "the compiler calls k otherwise than its binary"},
      {"calls", "error: it calls vprintf, which a kernel may not"},
      {"shared", "k asks for 1099511627776 bytes of shared memory and 0 of its own a block"},
      {"negative", "k asks for -5 bytes of shared memory and 0 of its own a block"},
      {"scratch", "k asks for 0 bytes of shared memory and 1099511627776 of its own a block"},
      {"cluster", "k needs a launch that hone does not make (clusters, cooperative grids, profiling)"},
      {"cooperative", "k needs a launch that hone does not make (clusters, cooperative grids, profiling)"},
      {"warps", "k was built for 1 warps, its launch has 4"},
      {"others", "the compiler answered for other functions than were asked for"},
      {"twice", "the compiler answered for other functions than were asked for"},
      {"nothing", "the compiler answered for other functions than were asked for"},
      {"types", "the compiler calls k otherwise than its binary"},
      {"metadata", "the compiler says nothing of k"},
      {"json", "error: Triton's process answered no JSON"},
      {"length", "error: Triton's process talks nonsense"},
      {"dies", "error: Triton's process ended"},
  };
  for (const auto& [what, words] : cases) EXPECT_EQ(forged(what), words) << what;
  EXPECT_NE(forged("garbage").find("error"), std::string::npos);
  EXPECT_EQ(forged("late", std::chrono::seconds(2)), "the compiler was stopped after 2 s");
  EXPECT_EQ(forged(""), "built");
}

}  // namespace
}  // namespace hone::target
