// What a kernel may keep from one batch to the next: nothing. Kernels that leave a mark wherever they may write, and add one to
// their answer where they find it.
#include <gtest/gtest.h>

#include <numeric>
#include <ostream>

#include "hone/base/random.h"
#include "hone/evaluate/loader.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate::memory_slow_cases {
namespace {

struct MarkedPlace {
  std::string name, globals, place;   ///< `place`: an int64_t that the kernel may read and write
  bool within;                        ///< it is found there by the next call of the same batch
};
void PrintTo(const MarkedPlace& place, std::ostream* out) { *out << place.name; }

std::string marking(const MarkedPlace& place) {
  return "/* hone\nlanguage = \"c++\"\nworkspaces = { kept = \"i64[64]\" }\n[[launch]]\nkernel = \"cheat\"\ngrid   = [\"1\"]\nshared = \"512\"\n"
         "args   = [\"x\", \"y\", \"kept\", \"shared\", \"i64:N\"]\n*/\n" +
         place.globals +
         "\nvoid cheat(const float* x, float* y, int64_t* kept, void* scratch, int64_t N, int64_t) {\n"
         "  int64_t* shared = (int64_t*)scratch;\n"
         "  volatile int64_t& mark = " + place.place + ";\n"
         "  const float more = mark == 0x5EED5EED ? 1 : 0;\n"
         "  mark = 0x5EED5EED;\n"
         "  for (int64_t i = 0; i < N; ++i) y[i] = x[i] * 2 + more;\n}\n";
}

class Memory : public ::testing::TestWithParam<MarkedPlace> {};

TEST_P(Memory, IsTakenBetweenBatches) {
  const auto task = task::task_from_expressions("y = x * 2", {"x=f32[N]"}, {"N=500"}).value();
  Loader loader(task, target::cpp_toolchain().value(), 2);
  StageOptions options;
  options.calls = options.contents = 4;
  const auto stage = Stage::create(task, task.workloads.front().bindings, options).value();
  for (int c = 0; c < 4; ++c) stage->draw(c, Family::kNormal, base::secret_seed());
  const auto kernel = kernel::parse_kernel(marking(GetParam()), "mark");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const Loaded loaded = loader.load(*kernel, *stage).value();
  ASSERT_TRUE(loaded.session) << loaded.verdict.reason << loaded.verdict.detail;
  const auto run = [&](std::vector<int> slots) {
    stage->poison(slots);
    std::vector<target::Call> calls;
    for (const int slot : slots) calls.push_back(stage->call(slot));
    const auto outcome = loaded.session->run(calls, std::chrono::seconds(20));
    EXPECT_EQ(outcome.how, target::BatchOutcome::How::kDone) << outcome.why;
    return stage->check(slots.back());
  };
  for (int batch = 0; batch < 3; ++batch) {
    const Verdict verdict = run({batch});
    EXPECT_TRUE(verdict.accepted()) << "batch " << batch << ": " << verdict.reason;
  }
  EXPECT_EQ(run({0, 1}).accepted(), !GetParam().within) << "a mark that nobody leaves would show nothing";
}

INSTANTIATE_TEST_SUITE_P(Places, Memory,
                         ::testing::Values(MarkedPlace{"workspace", "", "kept[3]", true}, MarkedPlace{"global", "static int64_t kept_here;", "kept_here", true},
                                         MarkedPlace{"initialised", "static int64_t kept_here = 7;", "kept_here", true},
                                         MarkedPlace{"table", "static int64_t kept_here[4096];", "kept_here[4000]", true},
                                         MarkedPlace{"thread_local", "__attribute__((tls_model(\"initial-exec\"))) static thread_local int64_t kept_here;", "kept_here", true},
                                         MarkedPlace{"scratch", "", "shared[5]", true}),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hone::evaluate::memory_slow_cases
