// The fault drill: kernels that crash, hang, overrun, exhaust memory or are wrong, one after another on a card, and after
// each a good one, which must be accepted and be as fast as it was. Prints a line a kernel; skips where there is no card.
// HONE_DRILL_CARD is the card's number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/evaluate/evaluator.h"

namespace hone::evaluate {
namespace {

struct Fault {
  const char* name;
  const char* body;                ///< of the kernel; i is the thread's number in the grid
  const char* before = "";         ///< in front of the kernel
  const char* header = "";         ///< more lines of the plan's header, before the launch
  const char* launch = "grid = [\"ceil_div(N, 256)\"]\nblock = [\"256\"]";
  const char* args = "";           ///< more arguments of the launch
  const char* parameters = "";     ///< and of the kernel
};

constexpr const char* kRight = "if (i < n) y[i] = 2 * x[i] + 1;";

/// Most go wrong in one thread of many, or at the workload's size only: what a search comes by.
constexpr Fault kFaults[] = {
    // crash
    {"writes through a null pointer", "if (i == 0) *(float*)nullptr = 1; if (i < n) y[i] = 2 * x[i] + 1;"},
    {"reads a terabyte away", "if (i < n) y[i] = 2 * x[i + ((i == 77) ? (1LL << 38) : 0)] + 1;"},
    {"writes a terabyte away", "if (i < n) y[i + ((i == 77) ? (1LL << 38) : 0)] = 2 * x[i] + 1;"},
    {"reads a word off its boundary", "if (i < n) y[i] = 2 * *(const float*)((const char*)(x + (i ? i : 1)) - (i == 5)) + 1;"},
    {"traps", "if (i == 3) __trap(); if (i < n) y[i] = 2 * x[i] + 1;"},
    {"traps at the workload's size only", "if (n > 1000000 && i == 3) __trap(); if (i < n) y[i] = 2 * x[i] + 1;"},
    {"jumps to nowhere",
     "step f = n > 0 ? (step)(n * 64) : (step)nullptr; if (i < n) y[i] = f(x[i]);", "typedef float (*step)(float);"},
    {"recurses without an end", "if (i < n) y[i] = deeper(x[i], n);",
     "__device__ __noinline__ float deeper(float v, long long n) { volatile float pad[64]; pad[n & 63] = v; return n < 0 ? v : deeper(v, n + 1) + "
     "pad[n & 63]; }"},
    // hang
    {"never ends", "while (*(volatile const int*)x != 0x7fc00001) {} if (i < n) y[i] = 2 * x[i] + 1;"},
    {"waits for a flag that nobody sets",
     "if (i == 0) { volatile const float* f = y; while (f[0] != 12345.f) {} } if (i < n) y[i] = 2 * x[i] + 1;"},
    {"never ends at the workload's size only",
     "while (n > 1000000 && *(volatile const int*)x != 0x7fc00001) {} if (i < n) y[i] = 2 * x[i] + 1;"},
    // overrun
    {"writes one element too many", "if (i <= n) y[i] = i < n ? 2 * x[i] + 1 : 0;"},
    {"writes whole vectors beyond odd ends",
     "if (4 * i < n) for (int k = 0; k < 4; ++k) y[4 * i + k] = 4 * i + k < n ? 2 * x[4 * i + k] + 1 : 7;"},
    {"writes before its output", "if (i == 0) y[-1] = 3; if (i < n) y[i] = 2 * x[i] + 1;"},
    {"writes its input", "if (i < n) { y[i] = 2 * x[i] + 1; ((float*)x)[i] = 0; }"},
    {"writes beyond shared memory", "buffer[threadIdx.x + (n > 0 ? (1 << 22) : 0)] = 1; if (i < n) y[i] = 2 * x[i] + 1;",
     "extern __shared__ float buffer[];", "",
     "grid = [\"ceil_div(N, 256)\"]\nblock = [\"256\"]\nshared = \"1024\""},
    {"writes beyond its workspace", "if (i < n) { w[i] = x[i]; y[i] = 2 * w[i] + 1; }", "",
     "workspaces = { w = \"f32[16]\" }\n", "grid = [\"ceil_div(N, 256)\"]\nblock = [\"256\"]", ", \"w\"", ", float* w"},
    // exhausts
    {"asks for a petabyte of workspace", kRight, "", "workspaces = { w = \"f32[N * 100000000]\" }\n",
     "grid = [\"ceil_div(N, 256)\"]\nblock = [\"256\"]", ", \"w\"", ", float* w"},
    {"asks for more workspace than the card has", kRight, "", "workspaces = { w = \"f32[100000000000]\" }\n",
     "grid = [\"ceil_div(N, 256)\"]\nblock = [\"256\"]", ", \"w\"", ", float* w"},
    {"takes all the heap of the device",
     "float* p = nullptr; for (int k = 0; k < 64; ++k) { float* q = (float*)malloc(1 << 20); if (q) p = q; } if (i < n) y[i] = 2 * x[i] + 1 + 0 * p[0];"},
    {"asks for more shared memory than there is", kRight, "", "",
     "grid = [\"ceil_div(N, 256)\"]\nblock = [\"256\"]\nshared = \"400000\""},
    {"asks for blocks of 2048 threads", kRight, "", "", "grid = [\"ceil_div(N, 256)\"]\nblock = [\"2048\"]"},
    {"asks for a grid without an end", kRight, "", "", "grid = [\"N * 1000000000\"]\nblock = [\"256\"]"},
    {"needs more registers than a block has",
     "float a[200]; for (int k = 0; k < 200; ++k) a[k] = x[(i + k) % n]; float s = 0; for (int k = 0; k < 200; ++k) s += a[k] * a[199 - k]; "
     "if (i < n) y[i] = 2 * x[i] + 1 + 0 * s;",
     "", "", "grid = [\"ceil_div(N, 1024)\"]\nblock = [\"1024\"]"},
    // wrong
    {"writes nothing", ""},
    {"leaves the last element out", "if (i < n - 1) y[i] = 2 * x[i] + 1;"},
    {"leaves a block out at the workload's size", "if (i < n && !(n > 1000000 && blockIdx.x == 17)) y[i] = 2 * x[i] + 1;"},
    {"is a little wrong", "if (i < n) y[i] = 2.0001f * x[i] + 1;"},
    {"gives NaN now and then", "if (i < n) y[i] = i % 1009 == 1008 ? NAN : 2 * x[i] + 1;"},
    {"remembers its first answer", "if (i == 0 && seen++ > 0) y[0] = 0; else if (i < n) y[i] = 2 * x[i] + 1;", "__device__ int seen = 0;"},
    // does not compile, cannot be loaded
    {"is not C++", "if (i < n) y[i] = = 2;"},
    {"calls what nobody wrote", "if (i < n) y[i] = elsewhere(x[i]);", "extern __device__ float elsewhere(float);"},
};

std::string source_of(const Fault& fault) {
  return fmt::format(
      "/* hone\nlanguage = \"cuda\"\n{}[[launch]]\nkernel = \"k\"\n{}\nargs = [\"x\", \"y\", \"i64:N\"{}]\n*/\n{}\n"
      "__global__ void k(const float* x, float* y, long long n{}) {{\n  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n  {}\n}}\n",
      fault.header, fault.launch, fault.args, fault.before, fault.parameters, fault.body);
}

TEST(CardFaults, GoodKernelsAreJudgedRightBetweenBadOnes) {
  const char* const ordinal = std::getenv("HONE_DRILL_CARD");
  const auto card = target::Card::open(std::string("cuda:") + (ordinal ? ordinal : "0"));
  if (!card) GTEST_SKIP() << card.error().to_string();
  auto compiler = target::cuda_toolchain((*card)->info().arch);
  if (!compiler) GTEST_SKIP() << compiler.error().to_string();
  const auto task = task::task_from_expressions("y = 2 * x + 1", {"x=f32[N]"}, {"N=33554433"});
  ASSERT_TRUE(task) << task.error().to_string();
  const auto evaluator = card_evaluator(*task, std::move(*compiler), *card, {});
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  const auto good = kernel::parse_kernel(source_of({"good", kRight}), "good.cu");
  ASSERT_TRUE(good) << good.error().to_string();

  std::vector<double> times;
  const auto screen_good = [&](const char* after) {
    const auto screening = (*evaluator)->screen(*good);
    ASSERT_TRUE(screening) << after << ": " << screening.error().to_string();
    EXPECT_TRUE(screening->verdict.accepted()) << "after a kernel that " << after << ": " << screening->verdict.reason;
    if (!screening->median_ns.empty()) times.push_back(screening->median_ns[0]);
  };
  screen_good("has not been run yet");
  int refused = 0;
  for (const Fault& fault : kFaults) {
    const auto bad = kernel::parse_kernel(source_of(fault), "bad.cu");
    const int64_t began = base::system_clock().now_ns();
    std::string found;
    if (!bad) {
      found = "header: " + bad.error().to_string();
    } else {
      const auto screening = (*evaluator)->screen(*bad);
      ASSERT_TRUE(screening) << fault.name << ": " << screening.error().to_string();
      EXPECT_FALSE(screening->verdict.accepted()) << fault.name;
      found = fmt::format("{}: {}", name_of(screening->verdict.kind), screening->verdict.reason);
    }
    ++refused;
    fmt::print("{:<46} {:5.1f} s  {}\n", fault.name, static_cast<double>(base::system_clock().now_ns() - began) / 1e9, found.substr(0, 150));
    std::fflush(stdout);
    screen_good(fault.name);
  }
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  fmt::print("{} bad kernels; the good one {} times: {:.1f} us, from {:.1f} to {:.1f}\n", refused, times.size(), median / 1e3, sorted.front() / 1e3,
             sorted.back() / 1e3);
  EXPECT_GE(refused, 30);
  EXPECT_EQ(times.size(), std::size(kFaults) + 1);
  EXPECT_LT(sorted.back(), 1.25 * median);
  EXPECT_GT(sorted.front(), 0.8 * median);
}

}  // namespace
}  // namespace hone::evaluate
