// The models behind the tuner: each has to learn what it is for.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hone/search/tune/features.h"
#include "hone/search/tune/forest.h"
#include "hone/search/tune/gaussian.h"
#include "hone/search/tune/prior.h"
#include "hone/search/tune/testing/spaces.h"
#include "hone/search/tune/transfer.h"

namespace hone::search::tune {
namespace {

struct Data {
  std::vector<float> rows, values;
};

/// Three columns, of which the third says nothing.
Data draw(int n, uint64_t seed, double (*f)(double, double)) {
  base::Rng rng(seed);
  Data data;
  for (int i = 0; i < n; ++i) {
    const double a = rng.uniform(), b = rng.uniform();
    for (const double x : {a, b, rng.uniform()}) data.rows.push_back(static_cast<float>(x));
    data.values.push_back(static_cast<float>(f(a, b)));
  }
  return data;
}

double error_of(const std::vector<Belief>& beliefs, const std::vector<float>& values) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += std::pow(beliefs[i].mean - values[i], 2);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double smooth(double a, double b) { return std::sin(5 * a) + 2 * b * b; }
double along_a_product(double a, double b) { return a + b > 1 ? 1 : 0; }

TEST(GaussianProcessTest, learns_a_smooth_function_and_which_columns_matter) {
  const Data train = draw(60, 1, smooth), test = draw(200, 2, smooth);
  GaussianProcess untrained(3), trained(3);
  untrained.fit(train.rows, train.values, 0);
  trained.fit(train.rows, train.values, 40);
  EXPECT_LT(error_of(trained.predict(test.rows), test.values), 0.08);
  EXPECT_LT(error_of(trained.predict(test.rows), test.values), 0.7 * error_of(untrained.predict(test.rows), test.values));
}

TEST(GaussianProcessTest, knows_what_it_does_not_know) {
  const Data train = draw(60, 1, smooth), test = draw(400, 2, smooth);
  GaussianProcess gaussian(3);
  gaussian.fit(train.rows, train.values, 40);
  const auto beliefs = gaussian.predict(test.rows);
  int within = 0;
  for (size_t i = 0; i < beliefs.size(); ++i) within += std::abs(beliefs[i].mean - test.values[i]) < 2 * beliefs[i].deviation;
  EXPECT_GT(within, 340);
  // Far outside it knows least.
  const std::vector<float> outside{5, 5, 5};
  EXPECT_GT(gaussian.predict(outside).front().deviation, 3 * beliefs.front().deviation);
}

TEST(GaussianProcessTest, takes_equal_rows_and_equal_values) {
  const std::vector<float> rows{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, values{1, 1};
  GaussianProcess gaussian(3);
  gaussian.fit(rows, values, 5);
  const Belief belief = gaussian.predict(std::vector<float>{0.5, 0.5, 0.5}).front();
  EXPECT_NEAR(belief.mean, 1, 1e-3);
  EXPECT_TRUE(std::isfinite(belief.deviation));
}

TEST(ForestTest, splits_along_sums) {
  const Data train = draw(120, 3, along_a_product), test = draw(400, 4, along_a_product);
  const auto error = [&](double oblique) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Forest forest(3, {.oblique = oblique});
      base::Rng rng(seed);
      forest.fit(train.rows, train.values, rng);
      sum += error_of(forest.predict(test.rows), test.values) / 20;
    }
    return sum;
  };
  EXPECT_LT(error(0.5), error(0));
  EXPECT_LT(error(0.5), 0.2);
}

TEST(ForestTest, is_a_function_of_its_generator) {
  const Data train = draw(50, 3, smooth);
  Forest a(3), b(3);
  base::Rng one(9), same(9);
  a.fit(train.rows, train.values, one);
  b.fit(train.rows, train.values, same);
  const auto x = a.predict(train.rows), y = b.predict(train.rows);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i].mean, y[i].mean);
}

TEST(FeaturesTest, sizes_by_their_logarithm_and_alignment_beside_them) {
  const Space space = testing::space_of({testing::numbers("bx", {16, 64, 96}), testing::numbers("one", {7}), testing::numbers("flag", {0, 1}),
                                         Parameter{"how", {Value("a"), Value("b"), Value("c")}}});
  const Features features(space);
  ASSERT_EQ(features.size(), 2u + 1u + 3u);
  std::vector<float> row(features.size());
  features.encode({1, 0, 1, 2}, row.data());
  EXPECT_NEAR(row[0], 2 / std::log2(6.0), 1e-6);
  EXPECT_EQ(row[1], 1);  // 64 is divisible by the largest power of two, 16 by the smallest
  EXPECT_EQ(row[2], 1);
  EXPECT_EQ((std::vector<float>(row.begin() + 3, row.end())), (std::vector<float>{0, 0, 1}));
}

TEST(PriorTest, rank_correlation) {
  const std::vector<double> up{1, 2, 3, 4}, down{9, 7, 5, 1}, curved{1, 10, 100, 1000}, flat{2, 2, 2, 2}, tied{1, 1, 2, 2};
  EXPECT_DOUBLE_EQ(rank_correlation(up, curved), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, down), -1);
  EXPECT_EQ(rank_correlation(up, flat), 0);
  EXPECT_NEAR(rank_correlation(up, tied), 0.894427, 1e-6);
  EXPECT_EQ(rank_correlation(std::vector<double>{1, 2}, std::vector<double>{1, 2}), 0);
}

TEST(PriorTest, a_source_that_misleads_loses_its_say) {
  std::vector<double> values(30), agrees(30), misleads(30);
  std::iota(values.begin(), values.end(), 0.0);
  std::iota(agrees.begin(), agrees.end(), 5.0);
  for (size_t i = 0; i < 30; ++i) misleads[i] = -values[i];
  const std::vector<std::vector<double>> opinions{agrees, misleads};
  const auto weights = source_weights(opinions, values, true);
  EXPECT_EQ(weights[0], 1);
  EXPECT_EQ(weights[1], 0);
  EXPECT_EQ(source_weights(opinions, values, false), (std::vector<double>{1, 1}));
  const std::vector<std::vector<double>> nothing{{}, {}};
  EXPECT_EQ(source_weights(nothing, {}, true), (std::vector<double>{1, 1}));
}

TEST(SourceTest, answers_for_what_it_knows_and_guesses_the_rest) {
  const TuningCache all = testing::tiles(256, 4);
  Experience half{all.parameters, {}, {}};
  for (size_t n = 0; n < all.points.size(); n += 2) half.points.push_back(all.points[n]), half.costs.push_back(all.measured[n].cost);
  const Space target = all.space();
  const auto source = Source::make(target, half, 1);
  ASSERT_TRUE(source);
  std::vector<double> known_opinions, known, guessed_opinions, guessed;
  const auto opinions = source->opinions(target.points());
  for (size_t n = 0; n < all.points.size(); ++n) {
    if (!all.measured[n].cost) continue;
    (n % 2 == 0 ? known_opinions : guessed_opinions).push_back(opinions[n]);
    (n % 2 == 0 ? known : guessed).push_back(*all.measured[n].cost);
  }
  EXPECT_GT(rank_correlation(known_opinions, known), 0.99);
  EXPECT_GT(rank_correlation(guessed_opinions, guessed), 0.85);
}

TEST(SourceTest, needs_something_in_common) {
  const TuningCache all = testing::tiles(256, 4);
  EXPECT_FALSE(Source::make(testing::switches().space(), all.experience(), 1));
  Experience two = all.experience();
  two.points.resize(2);
  two.costs.resize(2);
  EXPECT_FALSE(Source::make(all.space(), two, 1));
}

TEST(SourceTest, maps_by_name_whatever_the_order_and_the_values) {
  // The source lacks one parameter, lists another's values in another order and has values that the target lacks.
  const TuningCache target = testing::tiles(256, 4);
  const Space other = testing::space_of({testing::numbers("ty", {8, 4, 2, 1}), testing::numbers("bx", {512, 256, 64, 16}), testing::numbers("tx", {1, 2})});
  const TuningCache source = testing::measured(other, [](const std::vector<double>& v) { return std::optional(v[0] * 100 + v[1] + v[2] / 10); });
  const auto made = Source::make(target.space(), source.experience(), 1);
  ASSERT_TRUE(made);
  // By target's order: bx, by, tx, ty, cache, unroll.
  const std::vector<Point> points{{3, 0, 0, 0, 0, 0}, {3, 0, 0, 3, 0, 0}, {7, 0, 0, 0, 0, 0}};
  const auto opinions = made->opinions(points);
  EXPECT_LT(opinions[0], opinions[1]);
  EXPECT_LT(opinions[0], opinions[2]);
  EXPECT_LT(opinions[2], opinions[1]);
}

}  // namespace
}  // namespace hone::search::tune
