// How often garbage is found: the promises of docs/accuracy.md, by a thousand tries of the sampling that evaluations use.
#include "hone/evaluate/measure/judging.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>

#include "hone/base/random.h"
#include "hone/evaluate/stage.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

constexpr int kTries = 1000;
/// Misses that a rate of 0.001 or 0.1 gives in so many tries, but for one time in ten thousand.
constexpr int kMostMissed = 7, kMostMissedInScreening = 137;

/// Whether call number `call` of a batch of so many is garbage, `ran` calls after the process began.
using Garbage = std::function<bool(int call, int calls, int ran)>;

/// Tries of `batches` batches, in which `a_batch` calls each are judged and nothing is found.
int missed(int batches, int a_batch, const Garbage& garbage) {
  base::Rng rng(11);
  int misses = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    bool found = false;
    int ran = static_cast<int>(rng.below(1000));
    for (int batch = 0; batch < batches && !found; ++batch) {
      std::vector<int> calls(100 + rng.below(200));
      std::iota(calls.begin(), calls.end(), 0);
      for (const int call : choose_judged(calls, a_batch)) found |= garbage(call, static_cast<int>(calls.size()), ran + call);
      ran += static_cast<int>(calls.size());
    }
    misses += !found;
  }
  return misses;
}

TEST(Judging, EnoughCallsForTheRatesThatArePromised) {
  EXPECT_EQ(calls_to_judge(kGarbageShare, kFoundInPromotion), 227);
  EXPECT_EQ(calls_to_judge(kGarbageShare, kFoundInScreening), 76);
  EXPECT_EQ(calls_to_judge(0.5, 0.5), 1);
}

TEST(Judging, ChoosesEachCallAlikeAndNoneTwice) {
  std::vector<int> calls(50), times(50);
  std::iota(calls.begin(), calls.end(), 0);
  for (int i = 0; i < 5000; ++i) {
    const std::vector<int> chosen = choose_judged(calls, 10);
    EXPECT_EQ(std::set<int>(chosen.begin(), chosen.end()).size(), 10U);
    for (const int call : chosen) ++times[static_cast<size_t>(call)];
  }
  for (const int count : times) EXPECT_NEAR(count, 1000, 5 * 28);
  EXPECT_EQ(choose_judged(calls, 80).size(), 50U);
  EXPECT_TRUE(choose_judged(calls, 0).empty());
}

TEST(Judging, GarbageInThreePercentOfCallsIsFound) {
  base::Rng rng(3);
  const Garbage at_random = [&](int, int, int) { return rng.below(100) < 3; };
  const Garbage every_33rd = [](int, int, int ran) { return ran % 33 == 17; };
  const Garbage at_the_end = [](int call, int calls, int) { return call >= calls - (3 * calls + 99) / 100; };
  for (const Garbage& garbage : {at_random, every_33rd, at_the_end}) {
    EXPECT_LE(missed(10, 24, garbage), kMostMissed);
    EXPECT_LE(missed(3, 26, garbage), kMostMissedInScreening);
  }
}

using GarbageElement = std::function<bool(int64_t row, int64_t column)>;

/// Whether one of the elements that a look at one call compares is garbage; `some`: as check_some() looks, else as check().
bool found_in(const task::ConcreteGraph& graph, bool some, const GarbageElement& garbage) {
  GateOptions options;
  if (some) options.full_limit = options.sample_elements = kSomeElements;
  options.sample_seed = base::secret_seed();
  for (const Box& box : plan_boxes(graph, 0, options))
    for (int64_t r = box.start[0]; r < box.start[0] + box.extent[0]; ++r)
      for (int64_t c = box.start[1]; c < box.start[1] + box.extent[1]; ++c)
        if (garbage(r, c)) return true;
  return false;
}

/// Tries in which so many looks find nothing.
int missed_by(const task::ConcreteGraph& graph, int whole, int some, std::span<const GarbageElement> kinds) {
  int misses = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    bool found = false;
    for (int look = 0; look < whole + some && !found; ++look) found = found_in(graph, look >= whole, kinds[static_cast<size_t>(attempt) % kinds.size()]);
    misses += !found;
  }
  return misses;
}

TEST(Judging, GarbageInThreePercentOfElementsIsFound) {
  // More elements than are compared whole. A screening looks at the pool's three calls and at three timed ones at least; a
  // promotion at ten timed ones and at three on nearly equal inputs, where a batch is no more than one call.
  const GarbageElement kinds[] = {[](int64_t row, int64_t) { return row >= 400 && row < 520; },
                                  [](int64_t, int64_t column) { return column >= 777 && column < 777 + 123; },
                                  [](int64_t row, int64_t column) { return row < 700 && column < 704; }};
  for (const char* compute : {"y = relu(x)", "y = softmax(x, axis=-1)"}) {
    const auto task = task::task_from_expressions(compute, {"x=f32[M,N]"}, {"M=4000,N=4100"}).value();
    const auto graph = task::instantiate(task.primitive, task.workloads.front().bindings).value();
    EXPECT_LE(missed_by(graph, 13, 0, kinds), kMostMissed) << compute;
    EXPECT_LE(missed_by(graph, 3, 3, kinds), kMostMissedInScreening) << compute;
  }
}

TEST(Judging, TheEndsAreAlwaysLookedAt) {
  const auto task = task::task_from_expressions("y = relu(x)", {"x=f32[M,N]"}, {"M=3000,N=4100"}).value();
  const auto graph = task::instantiate(task.primitive, task.workloads.front().bindings).value();
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(found_in(graph, true, [](int64_t row, int64_t) { return row == 0; }));
    EXPECT_TRUE(found_in(graph, true, [](int64_t row, int64_t) { return row == 2999; }));
    EXPECT_TRUE(found_in(graph, true, [](int64_t, int64_t column) { return column == 0; }));
    EXPECT_TRUE(found_in(graph, true, [](int64_t, int64_t column) { return column == 4099; }));
  }
}

}  // namespace
}  // namespace hone::evaluate
