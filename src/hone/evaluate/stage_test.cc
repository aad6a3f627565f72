// A stage in this machine's memory, with nobody to play on it: the test writes the answers.
#include "hone/evaluate/stage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/number.h"

namespace hone::evaluate {
namespace {

struct Scene {
  task::Task task;
  std::unique_ptr<Stage> stage;
  std::vector<int> slots;

  explicit Scene(const std::string& inputs, const std::string& compute, const std::string& workload, int calls, StageOptions options = {}) {
    task = task::parse_task("name = \"t\"\ninputs = { " + inputs + " }\ncompute = \"" + compute + "\"\nworkloads = [ { " + workload + " } ]\n", "t.toml").value();
    options.calls = options.contents = calls;
    stage = Stage::create(task, task.workloads.front().bindings, options).value();
    slots.resize(static_cast<size_t>(calls));
    std::iota(slots.begin(), slots.end(), 0);
    draw(100);
  }
  void draw(uint64_t seed) const {
    std::vector<Stage::Draw> draws;
    for (int c = 0; c < stage->contents(); ++c) draws.push_back({c, Family::kNormal, seed + static_cast<uint64_t>(c)});
    stage->draw(draws);
  }
  [[nodiscard]] std::byte* tensor(int slot, size_t number) const {
    const target::Placement place = stage->call(slot).tensors[number];
    return stage->regions()[static_cast<size_t>(place.region)]->data() + place.offset;
  }
  [[nodiscard]] std::span<float> floats(int slot, size_t number) const {
    const task::ConcreteGraph& graph = stage->graph();
    const int node = number < task.inputs.size() ? graph.graph.inputs[number] : graph.graph.outputs[number - task.inputs.size()];
    return {reinterpret_cast<float*>(tensor(slot, number)), static_cast<size_t>(task::element_count(graph.shapes[static_cast<size_t>(node)]))};
  }
  /// y = relu(x) of a slot's own inputs.
  void answer(int slot) const {
    const auto x = floats(slot, 0), y = floats(slot, 1);
    for (size_t i = 0; i < x.size(); ++i) y[i] = std::max(x[i], 0.0F);
  }
  [[nodiscard]] int missing_numbers(int slot) const {
    const auto y = floats(slot, 1);
    return static_cast<int>(std::count_if(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
  }
};

Scene relu(int calls) { return Scene("x = \"f32[M, N]\"", "y = relu(x)", "M = 70, N = 90", calls); }

/// m's eight numbers are known.
std::string known(const std::string& shape) {
  std::string bytes(32, '\0');
  for (int i = 0; i < 8; ++i) {
    const float value = static_cast<float>(i) - 2.5F;
    std::memcpy(&bytes[static_cast<size_t>(4 * i)], &value, 4);
  }
  const task::KnownValues values{"", {2, 4}, std::make_shared<const std::string>(bytes)};
  return fmt::format("x = \"f32[M, 4]\", m = {{ type = \"f32[{}]\", values = \"{}\" }}", shape, task::pack_values(values, task::DType::kF32));
}

void expect_known(const Scene& scene, int slot) {
  const auto m = scene.floats(slot, 1);
  for (size_t i = 0; i < m.size(); ++i) EXPECT_EQ(m[i], static_cast<float>(i) - 2.5F) << i;
}

TEST(StageInMemory, KnownValuesAreWhatTheTaskSaysInEveryDraw) {
  const Scene scene(known("2, 4"), "y = x @ transpose(m, [1, 0])", "M = 16", 2);
  for (const Family family : kAllFamilies) {
    scene.stage->draw(0, family, 7);
    expect_known(scene, scene.slots[0]);
  }
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    scene.stage->draw_alike(0, seed);
    expect_known(scene, 0);
    const std::vector<double> points{0.5, 3};
    (void)scene.stage->draw_telling(0, seed, points, true);
    expect_known(scene, 0);
    scene.stage->draw(1, Family::kNormal, seed);
    scene.stage->draw_near(0, 1, 3, seed);
    expect_known(scene, 0);
  }
  // Those of another shape are drawn.
  const Scene other(known("N, 4"), "y = x @ transpose(m, [1, 0])", "M = 16, N = 2 }, { M = 16, N = 3", 1);
  expect_known(other, 0);
  StageOptions options;
  options.calls = options.contents = 1;
  const auto stage = Stage::create(other.task, other.task.workloads[1].bindings, options).value();
  stage->draw(0, Family::kUniform, 9);
  const target::Placement place = stage->call(0).tensors[1];
  const auto* m = reinterpret_cast<const float*>(stage->regions()[static_cast<size_t>(place.region)]->data() + place.offset);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(m[i] >= 0 && m[i] < 1) << i;
}

TEST(StageInMemory, ACopyOfADenormalNumberIsNotZero) {
  const Scene scene = relu(1);
  int with = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ASSERT_TRUE(scene.stage->draw_lines(0, seed, true));
    scene.answer(0);
    EXPECT_TRUE(scene.stage->check_vanished(0).accepted()) << seed;
    int flushed = 0;
    for (float& v : scene.floats(0, 1))
      if (v != 0 && v < std::numeric_limits<float>::min()) v = 0, ++flushed;
    EXPECT_EQ(scene.stage->check_vanished(0).accepted(), flushed == 0) << seed;
    with += flushed > 0;
  }
  EXPECT_GT(with, 5);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ASSERT_TRUE(scene.stage->draw_lines(0, seed, false));
    for (const float v : scene.floats(0, 0)) EXPECT_TRUE(v == 0 || std::abs(v) >= std::numeric_limits<float>::min());
  }
}

TEST(StageInMemory, AllIsMaskedInOrOutAndAllIndicesAreZeroInSomeCallsAtOnce) {
  const Scene scene("x = \"f32[M, N]\", i = { type = \"i64[M]\", domain = \"index(N)\" }, m = \"bool[M]\"", "y = where(m, take_along_axis(x, i[:, None], axis=1)[:, 0], -1.0)", "M = 40, N = 30", 1);
  int first_only = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    ASSERT_TRUE(scene.stage->draw_lines(0, seed, true));
    const auto* indices = reinterpret_cast<const int64_t*>(scene.tensor(0, 1));
    const auto* mask = reinterpret_cast<const uint8_t*>(scene.tensor(0, 2));
    first_only += std::all_of(indices, indices + 40, [](int64_t i) { return i == 0; }) && std::all_of(mask, mask + 40, [](uint8_t m) { return m == 1; });
  }
  EXPECT_GT(first_only, 3) << "an eighth is expected";
}

TEST(StageInMemory, ContentsDrawnSideBySideAreThoseDrawnAlone) {
  const Scene together = relu(20), alone = relu(20);
  for (int c = 0; c < 20; ++c) alone.stage->draw(c, Family::kNormal, 100 + static_cast<uint64_t>(c));
  for (const int a : together.slots)
    for (const int b : alone.slots)
      if (together.stage->content_of(a) == alone.stage->content_of(b)) {
        EXPECT_TRUE(std::ranges::equal(together.floats(a, 0), alone.floats(b, 0)));
      }
}

TEST(StageInMemory, PoisonIsTheSameWordNowhere) {
  const Scene set = relu(30);
  set.stage->poison(set.slots);
  std::vector<uint32_t> words;
  for (const int slot : set.slots) {
    EXPECT_EQ(set.missing_numbers(slot), 70 * 90);
    words.push_back(std::bit_cast<uint32_t>(set.floats(slot, 1)[0]));
  }
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::unique(words.begin(), words.end()), words.end());
  EXPECT_FALSE(set.stage->check_quick(std::span(set.slots).first(1)).accepted()) << "nobody has written";
}

TEST(StageInMemory, HalfOfTheOutputsHoldAnAnswerToOtherInputs) {
  const Scene set = relu(60);
  set.stage->poison(set.slots, true);
  for (const int slot : set.slots) EXPECT_EQ(set.missing_numbers(slot), 70 * 90) << "there are no answers yet";
  for (const int slot : set.slots) set.answer(slot);
  ASSERT_TRUE(set.stage->check_quick(set.slots).accepted());
  ASSERT_TRUE(set.stage->check_some(set.slots).accepted());
  set.draw(500);
  set.stage->poison(set.slots, true);
  int plausible = 0;
  for (const int slot : set.slots) {
    if (set.missing_numbers(slot) > 0) continue;
    ++plausible;
    EXPECT_EQ(set.stage->check_some({&slot, 1}).kind, VerdictKind::kWrong) << "an answer, but to other inputs";
  }
  EXPECT_GT(plausible, 12);
  EXPECT_LT(plausible, 48);
}

TEST(StageInMemory, AnAnswerToTheSameInputsIsNeverLeft) {
  const Scene set = relu(4);
  for (int attempt = 0; attempt < 20; ++attempt) {
    set.stage->poison(set.slots, true);
    for (const int slot : set.slots) {
      if (set.missing_numbers(slot) == 0) EXPECT_FALSE(set.stage->check_some({&slot, 1}).accepted());
      set.answer(slot);
    }
    ASSERT_TRUE(set.stage->check_quick(set.slots).accepted());
  }
}

TEST(StageInMemory, SomeElementsOfEachCallAreJudged) {
  const Scene set("x = \"f32[M, N]\"", "y = relu(x)", "M = 300, N = 700", 6);
  set.stage->poison(set.slots);
  for (const int slot : set.slots) set.answer(slot);
  EXPECT_TRUE(set.stage->check_some(set.slots).accepted());
  // A column of one of them.
  for (size_t row = 0; row < 300; ++row) set.floats(3, 1)[row * 700 + 699] += 0.5F;
  EXPECT_EQ(set.stage->check_some(set.slots).kind, VerdictKind::kWrong);
}

int differing(std::span<const float> a, std::span<const float> b) {
  int count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

TEST(StageInMemory, WhereTheWholeIsTooDearSomeOfWhatIsNotFiniteIsJudged) {
  StageOptions options;
  options.most_work_whole = 0;
  const Scene set("x = \"f32[M, N]\"", "y = exp(x)", "M = 2100, N = 2100", 1, options);  // larger than what is compared whole anyway
  const auto play = [&](auto wrong) {
    set.stage->poison(set.slots);
    const auto x = set.floats(0, 0), y = set.floats(0, 1);
    for (size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i]);
    wrong(y);
    return set.stage->check(0);
  };
  const auto lost = [](std::span<float> y) { y[y.size() / 3] = NAN, y[y.size() / 5] = INFINITY; };
  EXPECT_TRUE(play([](auto) {}).accepted());
  EXPECT_EQ(play(lost).kind, VerdictKind::kWrong);
  // One that is infinite rightly, and known to be: the others are still asked about.
  set.floats(0, 0)[5] = 1000;
  EXPECT_TRUE(play([](auto) {}).accepted());
  EXPECT_EQ(play(lost).kind, VerdictKind::kWrong);
  // Half of these are infinite, and rightly so.
  set.stage->draw(0, Family::kLarge, 7);
  EXPECT_TRUE(play([](auto) {}).accepted());
  EXPECT_EQ(play([](std::span<float> y) { for (float& v : y) v = std::isinf(v) ? v : INFINITY; }).kind, VerdictKind::kWrong);
}

TEST(Poison, PlacesThatAreNotFiniteAreDrawnEvenly) {
  std::vector<float> data(3000, 1.0F);
  EXPECT_TRUE(places_not_finite(task::DType::kF32, data.data(), 3000, 5, 1).empty());
  data[7] = NAN, data[2999] = -INFINITY;
  EXPECT_EQ(places_not_finite(task::DType::kF32, data.data(), 3000, 5, 1), (std::vector<int64_t>{7, 2999}));
  for (size_t i = 0; i < 1000; ++i) data[3 * i] = INFINITY;
  std::vector<int> found(10);
  for (uint64_t seed = 0; seed < 1000; ++seed)
    for (const int64_t place : places_not_finite(task::DType::kF32, data.data(), 3000, 5, seed)) {
      EXPECT_FALSE(std::isfinite(data[static_cast<size_t>(place)]));
      ++found[static_cast<size_t>(place / 300)];
    }
  for (const int tenth : found) EXPECT_NEAR(tenth, 500, 110);
}

// A tensor of one line is often without a NaN: a kernel that loses them all would be accepted.
TEST(StageInMemory, OfTwoLooksAtNonFiniteInputsOneHoldsANan) {
  const Scene set("x = \"f32[N]\"", "y = relu(x)", "N = 1000", 2);
  int second = 0;
  for (int i = 0; i < 40; ++i) {
    bool found[2] = {};
    for (int content = 0; content < 2; ++content) {
      set.stage->draw(content, Family::kNonFinite, set.stage->telling_seed(Family::kNonFinite));
      const int slot = set.stage->content_of(0) == content ? 0 : 1;
      const auto x = set.floats(slot, 0);
      found[content] = std::any_of(x.begin(), x.end(), [](float v) { return std::isnan(v); });
    }
    EXPECT_TRUE(found[0]);
    second += found[1];
  }
  EXPECT_LT(second, 30);  // the others are left as they come: infinities alone, ordinary lines
}

TEST(StageInMemory, NearlyEqualInputsDifferInAFewPlaces) {
  const Scene set("x = \"f32[M, N]\", w = \"f32[N]\"", "y = x * w", "M = 70, N = 90", 3);
  const auto slot_of = [&](int content) {
    return static_cast<int>(std::find_if(set.slots.begin(), set.slots.end(), [&](int s) { return set.stage->content_of(s) == content; }) - set.slots.begin());
  };
  std::set<size_t> places;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    set.stage->draw_near(1, 0, 1, seed);
    const auto a = set.floats(slot_of(0), 0), b = set.floats(slot_of(1), 0);
    EXPECT_EQ(differing(a, b), 1);
    EXPECT_EQ(differing(set.floats(slot_of(0), 1), set.floats(slot_of(1), 1)), 1);
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) places.insert(i);
  }
  EXPECT_GT(places.size(), 10U);
  // The oracle answers what is there.
  const int slot = slot_of(1);
  set.stage->poison({&slot, 1});
  const auto x = set.floats(slot, 0), w = set.floats(slot, 1), y = set.floats(slot, 2);
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * w[i % 90];
  const Verdict verdict = set.stage->check(slot);
  EXPECT_TRUE(verdict.accepted()) << verdict.reason;
}

TEST(StageInMemory, NearlyEqualInputsKeepTheirDomainAndStructure) {
  const Scene set("p = { type = \"f32[M, N]\", domain = \"simplex\" }, s = { type = \"f32[N, N]\", structure = \"symmetric\" }", "y = p @ s", "M = 30, N = 40", 2);
  set.stage->draw_near(1, 0, 3, 8);
  const int slot = set.stage->content_of(0) == 1 ? 0 : 1;
  const auto p = set.floats(slot, 0), s = set.floats(slot, 1);
  const int changed = differing(p, set.floats(1 - slot, 0));
  EXPECT_GE(changed, 30);
  EXPECT_LE(changed, 3 * 40);
  for (size_t row = 0; row < 30; ++row) EXPECT_NEAR(std::accumulate(p.begin() + static_cast<long>(row * 40), p.begin() + static_cast<long>(row * 40 + 40), 0.0), 1, 1e-5);
  EXPECT_GE(differing(s, set.floats(1 - slot, 1)), 1);
  EXPECT_LE(differing(s, set.floats(1 - slot, 1)), 6);
  for (size_t i = 0; i < s.size(); ++i) EXPECT_EQ(s[i], s[i % 40 * 40 + i / 40]);
}

}  // namespace
}  // namespace hone::evaluate
