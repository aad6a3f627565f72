// Times as an agent reads them, of screenings that are made up.
#include "hone/face/mcp/speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hone::face::mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json told(double bound) {
  const auto task = task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=8", "N=16"}).value();
  evaluate::Screening screening;
  screening.median_ns = {200, 400};
  screening.least_ns = {100, 300};
  screening.yardstick_least_ns = {400, 600};
  screening.ratio = {2, 2}, screening.ratio_low = {1.5, 1.9}, screening.ratio_high = {2.5, 2.1};
  screening.repetitions = 9;
  return speed_of(screening, task, {bound, 100}, {{64, 8, bound, 0}, {128, 16, 100, 0}});
}

TEST(Speed, nobody_is_faster_than_light_without_a_word) {
  const json below = told(90);
  EXPECT_FALSE(below["workloads"][0].contains("bound_note")) << below.dump();
  EXPECT_DOUBLE_EQ(below["workloads"][0]["at_the_least_time"]["fraction_of_speed_of_light"].get<double>(), 0.9);
  // At the least time alone, and of the workload that it is.
  const json above = told(150);
  EXPECT_THAT(above["workloads"][0]["bound_note"].get<std::string>(), HasSubstr("above 1"));
  EXPECT_FALSE(above["workloads"][1].contains("bound_note"));
  EXPECT_THAT(told(250)["workloads"][0]["bound_note"].get<std::string>(), HasSubstr("measured again"));
}

}  // namespace
}  // namespace hone::face::mcp
