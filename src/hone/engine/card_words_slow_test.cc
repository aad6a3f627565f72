// Words of 16 and of 8 bytes in what the library's kernels become: a compiler may load a word as one and store it element by element, which
// no test of results sees and a card pays for. Skips where there is no CUDA compiler.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/engine/workbench.h"
#include "hone/engine/testing/diagnosis_space.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::engine {
namespace {

using testing::must;

/// Instructions of PTX that begin with `operation` and move `floats` of them at least.
int words_of(const std::string& ptx, const std::string& operation, int floats) {
  int count = 0;
  for (size_t at = ptx.find(operation); at != std::string::npos; at = ptx.find(operation, at + 1)) {
    const std::string instruction = ptx.substr(at, ptx.find_first_of(" \t", at) - at);
    count += instruction.find(".v4.") != std::string::npos || (floats == 2 && instruction.find(".v2.") != std::string::npos);
  }
  return count;
}

/// Of words of so many floats.
void expect_stored_as_loaded(const std::vector<int>& words) {
  auto made = target::cuda_toolchain("sm_90a");
  if (!made) GTEST_SKIP() << made.error().to_string();
  struct Case {
    const char* compute;
    std::vector<std::string> inputs;
    const char* workload;
  };
  const Case cases[] = {
      {"y = relu(x)", {"x=f32[N]"}, "N=1048576"},
      {"y = d[:, None] * x", {"d=f32[N]", "x=f32[N,M]"}, "N=4096,M=4096"},
      {"y = softmax(x, axis=-1)", {"x=f32[N,M]"}, "N=1024,M=32768"},
      {"y = x / sqrt(mean(x * x, axis=1, keepdims=True) + 1e-5)", {"x=f32[N,C,M]"}, "N=16,C=64,M=16384"},
      {"y = cumsum(x, axis=1)", {"x=f32[N,M]"}, "N=4096,M=32768"},
  };
  int kernels = 0;
  for (const Case& c : cases) {
    const task::Task task = must(task::task_from_expressions(c.compute, c.inputs, {c.workload}));
    for (search::Seed& seed : library_seeds(task, {kernel::Language::kCuda}, {})) {
      if (!seed.kernel.config.contains("VEC")) continue;
      for (const int floats : words) {
        seed.kernel.config["VEC"] = floats;
        const std::string name = fmt::format("{}: {}, {}, words of {}", c.compute, seed.pattern, seed.action, floats);
        const auto ptx = (*made)->assembly(seed.kernel, task, task.workloads.at(0).bindings);
        if (!ptx && kernels == 0) GTEST_SKIP() << ptx.error().to_string();
        ASSERT_TRUE(ptx) << name << ": " << ptx.error().to_string();
        EXPECT_GT(words_of(*ptx, "ld.global", floats), 0) << name;
        EXPECT_GT(words_of(*ptx, "st.global", floats), 0) << name;
        ++kernels;
      }
    }
  }
  EXPECT_GE(kernels, 8 * static_cast<int>(words.size()));
}
TEST(LongCardWords, WhatIsLoadedAsWordsIsStoredAsWords) { expect_stored_as_loaded({4, 2}); }

}  // namespace
}  // namespace hone::engine
