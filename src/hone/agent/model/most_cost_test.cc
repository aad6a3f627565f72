#include "hone/agent/model/most_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::agent {
namespace {

using ::testing::HasSubstr;

ModelsConfig priced(std::vector<std::optional<Price>> prices) {
  ModelsConfig config;
  for (size_t i = 0; i < prices.size(); ++i) {
    ModelConfig model;
    model.name = "m" + std::to_string(i);
    model.price = prices[i];
    model.max_output_tokens = 1000;
    config.models.push_back(model);
  }
  return config;
}

TEST(MostCost, of_calls_is_prompts_and_answers_at_the_dearest_model) {
  ModelsConfig config = priced({Price{1, 0.1, 2, 10, "2025-10-15"}, Price{0.5, 0.5, 0.5, 1, "2025-08-05"}});
  config.limits.calls = 3;
  const MostCost most = most_cost_of(config);
  // 65536 tokens written to a cache at two dollars a million, a thousand of an answer at ten.
  EXPECT_EQ(most.nanodollars, 3 * (65536 * 2'000 + 1000 * 10'000));
  EXPECT_EQ(text_of(most), "at most $0.4232: 3 calls of 65536 tokens in and 1000 out; prices of 2025-08-05");
}

TEST(MostCost, is_the_least_that_any_budget_allows) {
  ModelsConfig config = priced({Price{1, 1, 1, 10, ""}});
  config.limits.calls = 100;
  config.limits.tokens = 50'000;
  EXPECT_EQ(text_of(most_cost_of(config)), "at most $0.5000: 50000 tokens at the dearest rate");
  config.limits.nanodollars = 200'000'000;
  EXPECT_EQ(text_of(most_cost_of(config)), "at most $0.2000: the budget");
}

TEST(MostCost, is_unknown_where_a_price_or_every_limit_is_missing) {
  ModelsConfig config = priced({Price{1, 1, 1, 10, ""}, std::nullopt});
  config.limits.calls = 2;
  EXPECT_FALSE(most_cost_of(config).nanodollars);
  EXPECT_THAT(text_of(most_cost_of(config)), HasSubstr("the price is not known: there is none for m1 in the models file"));
  config.models[1].command_model = true;
  EXPECT_THAT(text_of(most_cost_of(config)), HasSubstr("the program m1 says no price"));
  config.models.pop_back();
  config.limits.calls = 0;
  EXPECT_THAT(text_of(most_cost_of(config)), HasSubstr("limits its calls"));
  config.models[0].price = Price{0, 0, 0, 0, ""};
  EXPECT_EQ(text_of(most_cost_of(config)), "free: its models cost nothing");
}

TEST(MostCost, what_was_said_is_the_budget) {
  ModelsConfig config = priced({Price{1, 1, 1, 10, ""}});
  config.limits.calls = 2;
  hold_to(most_cost_of(config), config);
  EXPECT_EQ(config.limits.nanodollars, 2 * (65'536'000 + 10'000'000));
  config.limits.nanodollars = 5;
  hold_to(most_cost_of(config), config);
  EXPECT_EQ(config.limits.nanodollars, 5) << "the user's own stays";
}

}  // namespace
}  // namespace hone::agent
