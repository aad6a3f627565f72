#include "hone/search/tune/additive_model.h"

#include <gtest/gtest.h>

namespace hone::search {
namespace {

TEST(AdditiveModelTest, knows_nothing_at_first) {
  AdditiveModel model;
  EXPECT_EQ(model.predict(0, {{"A", 1}}), 0);
  EXPECT_EQ(model.size(), 0u);
}

TEST(AdditiveModelTest, predicts_what_it_never_saw_from_the_effects_of_its_parts) {
  AdditiveModel model;
  // log score = A == 4 ? 1 : 0, plus B == 2 ? 0.5 : 0; (4, 2) is not shown.
  for (int repeat = 0; repeat < 5; ++repeat) {
    model.add(0, {{"A", 1}, {"B", 1}}, 0);
    model.add(0, {{"A", 4}, {"B", 1}}, 1);
    model.add(0, {{"A", 1}, {"B", 2}}, 0.5);
  }
  EXPECT_GT(model.predict(0, {{"A", 4}, {"B", 2}}), model.predict(0, {{"A", 4}, {"B", 1}}));
  EXPECT_GT(model.predict(0, {{"A", 4}, {"B", 1}}), model.predict(0, {{"A", 1}, {"B", 2}}));
  EXPECT_NEAR(model.predict(0, {{"A", 4}, {"B", 2}}), 1.5, 0.3);
}

TEST(AdditiveModelTest, shares_effects_between_sources) {
  AdditiveModel model;
  for (int repeat = 0; repeat < 5; ++repeat) {
    model.add(0, {{"A", 1}}, 0);
    model.add(0, {{"A", 4}}, 1);
  }
  model.add(1, {{"A", 1}}, 0.2);
  EXPECT_GT(model.predict(1, {{"A", 4}}), model.predict(1, {{"A", 1}}));
}

TEST(AdditiveModelTest, lets_sources_differ_where_there_is_evidence) {
  AdditiveModel model;
  for (int repeat = 0; repeat < 5; ++repeat) {
    model.add(0, {{"A", 1}}, 0);
    model.add(0, {{"A", 4}}, 1);
    model.add(1, {{"A", 1}}, 1);
    model.add(1, {{"A", 4}}, 0);
  }
  EXPECT_GT(model.predict(0, {{"A", 4}}), model.predict(0, {{"A", 1}}));
  EXPECT_LT(model.predict(1, {{"A", 4}}), model.predict(1, {{"A", 1}}));
}

}  // namespace
}  // namespace hone::search
