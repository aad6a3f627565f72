#include "hone/search/tune/space_files.h"
#include "hone/search/tune/value_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/search/tune/tuner.h"
#include "hone/search/tune/replay.h"
#include "hone/search/tune/testing/spaces.h"

namespace hone::search::tune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kCache = R"({
"device_name": "D", "kernel_name": "K", "problem_size": [4096, 4096],
"tune_params_keys": ["n", "how", "big"], "tune_params": {"n": [1, 2], "how": ["a", "b"], "big": [true, false]},
"objective": "time",
"cache": {
"1,a,True": {"n": 1, "how": "a", "big": true, "time": 2.5, "times": [2.0, 3.0], "compile_time": 10.0},
"1,b,True": {"n": 1, "how": "b", "big": true, "time": "CompilationFailedConfig", "compile_time": 5},
"2,a,False": {"n": 2, "how": "a", "big": false, "time": "RuntimeFailedConfig"},
"2,b,False": {"n": 2, "how": "b", "big": false, "time": 1e20, "__error__": "InvalidConfig"},
"2,b,True": {"n": 2, "how": "b", "big": true, "time": 1.5, "times": [1.5]}
}})";

constexpr const char* kT1 = R"({"ConfigurationSpace": {"TuningParameters": [
  {"Name": "n", "Type": "int", "Values": "[1, 2]", "Default": 1},
  {"Name": "how", "Type": "string", "Values": "['a', 'b']"},
  {"Name": "big", "Type": "bool", "Values": "[True, False]"}],
  "Conditions": [{"Expression": "n == 2 or how == 'a'", "Parameters": ["n", "how"]}]}})";

TEST(CacheTest, reads_costs_timings_and_every_kind_of_failure) {
  const TuningCache cache = parse_cache(kCache, "c.json").value();
  EXPECT_EQ(cache.device, "D");
  EXPECT_EQ(cache.kernel, "K");
  EXPECT_THAT(cache.keys, ::testing::ElementsAre("1,a,True", "1,b,True", "2,a,False", "2,b,False", "2,b,True"));
  EXPECT_EQ(cache.measured[0].cost, 2.5);
  EXPECT_THAT(cache.measured[0].times, ::testing::ElementsAre(2.0, 3.0));
  EXPECT_EQ(cache.measured[0].compile_ms, 10);
  EXPECT_EQ(cache.measured[1].invalidity, Invalidity::kCompile);
  EXPECT_EQ(cache.measured[2].invalidity, Invalidity::kRuntime);
  EXPECT_EQ(cache.measured[3].invalidity, Invalidity::kConstraints);
  for (size_t n = 1; n < 4; ++n) EXPECT_FALSE(cache.measured[n].cost);
  EXPECT_TRUE(cache.space().allowed(cache.points[3]));
}

TEST(CacheTest, an_interrupted_run_left_no_brackets) {
  const std::string text = kCache;
  const size_t cut = text.find("\"2,b,True\"");
  EXPECT_EQ(parse_cache(text.substr(0, cut), "c.json").value().points.size(), 4u);
}

TEST(CacheTest, names_of_tunables_are_their_own) {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = kCache;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    const auto cache = parse_cache(text, "c.json");
    return cache ? std::string() : cache.error().message;
  };
  EXPECT_THAT(refused("\"objective\": \"time\"", "\"objective\": \"how\""), HasSubstr("as a measurement is"));
  EXPECT_THAT(refused("\"how\"", "\"compile_time\""), HasSubstr("as a measurement is"));
  EXPECT_THAT(refused("[\"n\", \"how\"", "[\"n\", \"n\", \"how\""), HasSubstr("twice"));
  std::string many = "[1, 2";
  for (int i = 3; i < 65'537; ++i) many += ", " + std::to_string(i);
  EXPECT_THAT(refused("\"n\": [1, 2]", "\"n\": " + many + "]"), HasSubstr("more than 65535 values"));
}

TEST(CacheTest, what_is_written_reads_back) {
  const TuningCache cache = parse_cache(kCache, "c.json").value();
  const TuningCache again = parse_cache(cache_text(cache), "again").value();
  EXPECT_EQ(again.keys, cache.keys);
  EXPECT_EQ(again.points, cache.points);
  EXPECT_EQ(again.problem_size, "[4096,4096]");
  for (size_t n = 0; n < cache.points.size(); ++n) {
    EXPECT_EQ(again.measured[n].cost, cache.measured[n].cost);
    EXPECT_EQ(again.measured[n].times, cache.measured[n].times);
    EXPECT_EQ(again.measured[n].invalidity, cache.measured[n].invalidity);
  }
}

TEST(CacheTest, says_what_is_wrong) {
  const auto message = [](std::string text, const std::string& from, const std::string& to) {
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    const auto cache = parse_cache(text, "c.json");
    return cache ? std::string("nothing is wrong") : cache.error().to_string();
  };
  EXPECT_THAT(message("no json", "", ""), HasSubstr("c.json"));
  EXPECT_THAT(message("[]", "", ""), AllOf(HasSubstr("c.json"), HasSubstr("not an object")));
  EXPECT_THAT(message("{}", "", ""), HasSubstr("there is no \"cache\""));
  EXPECT_THAT(message(kCache, "\"tune_params_keys\"", "\"keys\""), HasSubstr("there is no \"tune_params_keys\""));
  EXPECT_THAT(message(kCache, "\"n\": [1, 2], ", ""), HasSubstr("lacks \"n\""));
  EXPECT_THAT(message(kCache, "\"n\": 1, ", ""), HasSubstr("\"1,a,True\" lacks n"));
  EXPECT_THAT(message(kCache, "\"n\": 1, ", "\"n\": 7, "), HasSubstr("does not list 7"));
  EXPECT_THAT(message(kCache, "\"n\": 1, \"how\": \"a\"", "\"n\": 1, \"how\": \"b\""), HasSubstr("twice"));
}

TEST(T1Test, reads_lists_in_pythons_notation_and_conditions) {
  const Space space = parse_t1(kT1, "t1.json").value();
  EXPECT_EQ(space.parameters().size(), 3u);
  EXPECT_EQ(space.points().size(), 6u);
  EXPECT_FALSE(space.allowed({0, 1, 0}));
}

TEST(ValueListTest, reads_what_kernel_tuner_writes) {
  const auto text = [](std::string_view list) {
    const auto values = parse_values(list);
    if (!values) return values.error().message;
    std::string all;
    for (const Value& value : *values) all += (all.empty() ? "" : " ") + text_of(value);
    return all;
  };
  EXPECT_EQ(text("[1, 2.5, 'a, b', True]"), "1 2.5 a, b 1");
  EXPECT_EQ(text("(4, 8,)"), "4 8");
  EXPECT_EQ(text("range(3)"), "0 1 2");
  EXPECT_EQ(text("list(range(10, 0, -4))"), "10 6 2");
  EXPECT_EQ(text("[2**i for i in range(0, 5)]"), "1 2 4 8 16");
  EXPECT_EQ(text("[1] + [32 * i for i in range(1, 4)]"), "1 32 64 96");
  EXPECT_EQ(text("[a * b for a in [1, 2] for b in range(3) if a != b]"), "0 2 0 2");
  EXPECT_EQ(text("[i if i > 1 else 10 for i in (1, 2)]"), "10 2");
  EXPECT_EQ(text("[f for f in ['for', 'in']]"), "for in");
  EXPECT_THAT(text("range(10 ** 9)"), HasSubstr("100000"));
  EXPECT_THAT(text("[i for i in range(400) for j in range(400)]"), HasSubstr("100000"));
  EXPECT_THAT(text("[i for i]"), HasSubstr("for NAME in LIST"));
  EXPECT_THAT(text("[j for i in range(3)]"), HasSubstr("\"j\""));
  EXPECT_THAT(text("[1 / 0]"), HasSubstr("no value"));
  EXPECT_THAT(text("range(1, 2, 0)"), HasSubstr("range()"));
  for (const char* broken : {"", "[", "]", "(", "for", "[for]", "[1,,2", "'", "[']", "range(", "range()", "list()", "[x for x in]", "+", "[] +"}) text(broken);
}

TEST(T1Test, says_what_is_wrong) {
  const auto message = [](const std::string& text) {
    const auto space = parse_t1(text, "t1.json");
    return space ? std::string("nothing is wrong") : space.error().to_string();
  };
  EXPECT_THAT(message("{"), HasSubstr("t1.json"));
  EXPECT_THAT(message("{}"), HasSubstr("ConfigurationSpace"));
  EXPECT_THAT(message(R"({"ConfigurationSpace": {}})"), HasSubstr("TuningParameters"));
  EXPECT_THAT(message(R"text({"ConfigurationSpace": {"TuningParameters": [{"Name": "n", "Values": "os.exit()"}]}})text"), HasSubstr("no list"));
  EXPECT_THAT(message(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "n", "Values": "[1]"}], "Conditions": [{"Expression": "m > 1"}]}})"),
              HasSubstr("\"m\" is no tunable"));
}

TEST(T1Test, keeps_what_the_conditions_allow) {
  const TuningCache cache = parse_cache(kCache, "c.json").value();
  const TuningCache kept = within(cache, parse_t1(kT1, "t1.json").value(), "c.json", "t1.json").value();
  EXPECT_THAT(kept.keys, ::testing::ElementsAre("1,a,True", "2,a,False", "2,b,False", "2,b,True"));
  EXPECT_EQ(kept.measured[3].cost, 1.5);
}

TEST(T1Test, of_another_kernel_is_refused) {
  const TuningCache cache = parse_cache(kCache, "c.json").value();
  const Space other = parse_t1(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "m", "Values": [1]}]}})", "t1.json").value();
  EXPECT_THAT(within(cache, other, "c.json", "t1.json").error().message, AllOf(HasSubstr("do not belong together"), HasSubstr("no parameter m")));
  std::string text = kT1;
  text.replace(text.find("[1, 2]"), 6, "[1, 3]");
  EXPECT_THAT(within(cache, parse_t1(text, "t1.json").value(), "c.json", "t1.json").error().message, HasSubstr("n = 2"));
}

TEST(T4Test, says_what_became_of_each) {
  const auto file = nlohmann::json::parse(t4_text(parse_cache(kCache, "c.json").value()));
  ASSERT_EQ(file["results"].size(), 5u);
  const auto& first = file["results"][0];
  EXPECT_EQ(first["configuration"]["how"], "a");
  EXPECT_EQ(first["invalidity"], "correct");
  EXPECT_EQ(first["times"]["runtimes"].size(), 2u);
  EXPECT_EQ(first["measurements"][0]["value"], 2.5);
  EXPECT_EQ(file["results"][1]["invalidity"], "compile");
  EXPECT_TRUE(file["results"][1]["measurements"].empty());
  for (const auto& result : file["results"])
    for (const char* key : {"configuration", "times", "invalidity", "correctness", "measurements", "objectives"}) EXPECT_TRUE(result.contains(key)) << key;
}

/// A value is looked at only when its point is evaluated: others may be anything.
TEST(ReplayTest, looks_at_no_value_before_it_evaluates_the_point) {
  const TuningCache cache = testing::tiles(256, 4);
  PointMap<size_t> index;
  for (size_t n = 0; n < cache.points.size(); ++n) index[cache.points[n]] = n;
  const auto run = [&](const TuningCache& known, PointSet* touched) {
    Tuner tuner(known.space(), 11, 60);
    return replay(tuner, [&](const Point& point) {
      if (touched != nullptr && !touched->insert(point).second) ADD_FAILURE() << "evaluated twice";
      return known.measured[index.at(point)].cost;
    }, 60).points;
  };
  PointSet touched;
  const auto honest = run(cache, &touched);
  EXPECT_EQ(touched.size(), 60u);
  TuningCache trapped = cache;
  for (size_t n = 0; n < trapped.points.size(); ++n)
    if (!touched.contains(trapped.points[n])) trapped.measured[n].cost = n % 2 ? 1e-9 : 1e9;
  EXPECT_EQ(run(trapped, nullptr), honest);
}

TEST(ReplayTest, racing_finds_the_best_of_what_was_evaluated) {
  TuningCache cache = testing::tiles(256, 4);
  base::Rng rng(1);
  for (Measured& m : cache.measured)
    if (m.cost) {
      double sum = 0;
      for (int i = 0; i < 32; ++i) {
        // The first two are slow, as on a device that still wakes up.
        m.times.push_back(*m.cost * (1 + 0.01 * rng.normal() + (i < 2 ? 0.2 : 0)));
        sum += m.times.back() / 32;
      }
      m.cost = sum;
    }
  Tuner tuner(cache.space(), 3, 80);
  const RacedReplay raced = raced_replay(tuner, cache, 80);
  EXPECT_LT(raced.loss, 0.01);
  EXPECT_GE(raced.loss, 0);
  EXPECT_GT(raced.device_share, 3.0 / 32);
  EXPECT_LT(raced.device_share, 0.35);
}

}  // namespace
}  // namespace hone::search::tune
