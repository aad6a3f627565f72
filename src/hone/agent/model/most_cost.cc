#include "hone/agent/model/most_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hone::agent {
namespace {

/// A million tokens for a dollar are a thousand nanodollars each.
constexpr double kNanoAToken = 1e3;

int64_t of(double tokens, double dollars_a_million) { return static_cast<int64_t>(std::ceil(std::min(tokens * dollars_a_million * kNanoAToken, 9e18))); }

double dearest_input(const Price& price) { return std::max({price.input, price.cache_read, price.cache_write}); }

/// "prices of 2025-09-29", of the oldest; empty where all are the user's own.
std::string days(const ModelsConfig& config) {
  std::string oldest;
  for (const ModelConfig& model : config.models)
    if (!model.price->as_of.empty() && (oldest.empty() || model.price->as_of < oldest)) oldest = model.price->as_of;
  return oldest.empty() ? "" : fmt::format("; prices of {}", oldest);
}

}  // namespace

MostCost most_cost_of(const ModelsConfig& config) {
  for (const ModelConfig& model : config.models)
    if (!model.price)
      return {std::nullopt, model.command_model ? fmt::format("the program {} says no price", model.name)
                                                : fmt::format("there is none for {} in the models file, in prices.toml or in hone's own list", model.name)};
  const ModelLimits& limits = config.limits;
  int64_t token = 0, call = 0;
  int output = 0;
  for (const ModelConfig& model : config.models) {
    token = std::max(token, of(1, std::max(dearest_input(*model.price), model.price->output)));
    call = std::max(call, of(kPromptTokens, dearest_input(*model.price)) + of(model.max_output_tokens, model.price->output));
    output = std::max(output, model.max_output_tokens);
  }
  if (token == 0) return {0, "its models cost nothing"};
  MostCost most;
  const auto least = [&](int64_t nanodollars, std::string about) {
    if (!most.nanodollars || nanodollars < *most.nanodollars) most = {nanodollars, std::move(about)};
  };
  if (limits.tokens > 0)
    least(of(static_cast<double>(limits.tokens), static_cast<double>(token) / kNanoAToken), fmt::format("{} tokens at the dearest rate", limits.tokens));
  if (limits.calls > 0)
    least(static_cast<int64_t>(std::min(static_cast<double>(limits.calls) * static_cast<double>(call), 9e18)),
          fmt::format("{} calls of {} tokens in and {} out", limits.calls, kPromptTokens, output));
  if (limits.nanodollars > 0) least(limits.nanodollars, "the budget");
  if (!most.nanodollars) return {std::nullopt, "nothing but the run's end limits its calls (--model-budget does)"};
  most.about += days(config);
  return most;
}

void hold_to(const MostCost& most, ModelsConfig& config) {
  if (most.nanodollars && *most.nanodollars > 0 && config.limits.nanodollars == 0) config.limits.nanodollars = *most.nanodollars;
}

std::string text_of(const MostCost& most) {
  if (!most.nanodollars) return "the price is not known: " + most.about;
  if (*most.nanodollars == 0) return "free: " + most.about;
  return fmt::format("at most ${:.4f}: {}", static_cast<double>(*most.nanodollars) * 1e-9, most.about);
}

}  // namespace hone::agent
