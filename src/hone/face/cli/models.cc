#include "hone/face/cli/models.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/agent/model/config.h"
#include "hone/agent/model/most_cost.h"
#include "hone/agent/prompt.h"
#include "hone/base/json.h"
#include "hone/face/cli/context.h"

namespace hone::face {
namespace {

/// "2usd,500000tokens,40calls" into the limits.
Status parse_model_budget(const std::string& text, agent::ModelLimits& limits) {
  std::stringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    double value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    const std::string unit(end, static_cast<size_t>(item.data() + item.size() - end));
    const bool sound = error == std::errc() && value > 0 && value < 1e15;
    if (sound && unit == "usd") {
      HONE_TRY(limits.nanodollars, agent::nanodollars_of(value));
    } else if (sound && unit == "tokens") {
      limits.tokens = static_cast<int64_t>(value);
    } else if (sound && unit == "calls" && value <= 1e6) {
      limits.calls = static_cast<int>(value);
    } else {
      return fail(ErrorCode::kUsage, fmt::format("\"{}\" is no budget for models", item), "such as 2usd, 500000tokens or 40calls; several with commas");
    }
  }
  return {};
}

Result<agent::ModelsConfig> config_of(const ModelArguments& arguments) {
  agent::ModelsConfig config;
  if (!arguments.file.empty()) {
    HONE_TRY(const std::string text, read_text(arguments.file, "models file"));
    HONE_TRY(config, agent::parse_models(text, arguments.file));
  }
  for (const std::string& text : arguments.models) {
    HONE_TRY(agent::ModelConfig model, agent::model_from(text));
    for (const agent::ModelConfig& other : config.models)
      if (other.name == model.name) return fail(ErrorCode::kUsage, fmt::format("the model {} is named twice", model.name));
    config.models.push_back(std::move(model));
  }
  if (!arguments.budget.empty()) HONE_TRY_VOID(parse_model_budget(arguments.budget, config.limits));
  HONE_TRY_VOID(agent::add_prices(config, home() / "prices.toml"));
  return config;
}

}  // namespace

std::string models_line(const std::string& models_json) {
  const auto config = agent::ModelsConfig::from_json(models_json);
  if (!config) return {};
  std::string names;
  for (const agent::ModelConfig& model : config->models) names += (names.empty() ? "" : ", ") + agent::one_line(model.name, 60);
  return fmt::format("models: {}; {}", names, agent::text_of(agent::most_cost_of(*config)));
}

Result<std::string> models_json_of(const ModelArguments& arguments) {
  if (arguments.models.empty() && arguments.file.empty()) {
    if (!arguments.budget.empty()) return fail(ErrorCode::kUsage, "--model-budget, but no model", "name one with --model or --models");
    return std::string();
  }
  HONE_TRY(agent::ModelsConfig config, config_of(arguments));
  agent::hold_to(agent::most_cost_of(config), config);
  return config.to_json();
}

Result<std::string> models_among(const std::string& allowed, const std::vector<std::string>& names, const std::string& budget) {
  if (names.empty()) {
    if (!budget.empty()) return fail(ErrorCode::kInput, "a budget for models, but no model", "\"models\" names some");
    return std::string();
  }
  if (allowed.empty()) return fail(ErrorCode::kInput, "no model may be used here", "whoever starts hone mcp names them: hone mcp --models FILE");
  HONE_TRY(agent::ModelsConfig config, agent::ModelsConfig::from_json(allowed));
  std::vector<agent::ModelConfig> chosen;
  for (const std::string& name : names) {
    const auto at = std::find_if(config.models.begin(), config.models.end(), [&](const agent::ModelConfig& model) { return model.name == name; });
    std::string known;
    for (const agent::ModelConfig& model : config.models) known += (known.empty() ? "" : ", ") + model.name;
    if (at == config.models.end())
      return fail(ErrorCode::kInput, fmt::format("there is no model \"{}\" here", agent::one_line(name, 60)), "there are: " + known);
    if (std::any_of(chosen.begin(), chosen.end(), [&](const agent::ModelConfig& model) { return model.name == name; }))
      return fail(ErrorCode::kInput, fmt::format("the model {} is named twice", name));
    chosen.push_back(*at);
  }
  config.models = std::move(chosen);
  agent::ModelLimits asked;
  if (!budget.empty()) HONE_TRY_VOID(parse_model_budget(budget, asked));
  const auto lesser = [](auto& limit, auto other) {
    if (other > 0 && (limit == 0 || other < limit)) limit = other;
  };
  lesser(config.limits.tokens, asked.tokens);
  lesser(config.limits.nanodollars, asked.nanodollars);
  lesser(config.limits.calls, asked.calls);
  if (config.limits.nanodollars > 0 && !agent::most_cost_of(config).nanodollars)
    return fail(ErrorCode::kInput, "a budget in dollars, but " + agent::most_cost_of(config).about, "give it in calls or tokens");
  agent::hold_to(agent::most_cost_of(config), config);
  return config.to_json();
}

Result<engine::ModelServices> model_services(const std::string& models_json) {
  engine::ModelServices services;
  if (models_json.empty()) return services;
  HONE_TRY(const agent::ModelsConfig config, agent::ModelsConfig::from_json(models_json));
  for (const agent::ModelConfig& model : config.models) {
    HONE_TRY(auto client, agent::make_client(model, nullptr, agent::system_waiting()));
    services.clients.push_back(std::move(client));
  }
  services.another_store = [] { return open_archive(); };
  return services;
}

Result<int> test_models(const ModelArguments& arguments, bool as_json) {
  if (arguments.models.empty() && arguments.file.empty())
    return fail(ErrorCode::kUsage, "which models? Name a file with --models, or one with --model", "see docs/models.toml");
  HONE_TRY(const agent::ModelsConfig config, config_of(arguments));
  using nlohmann::json;
  json rows = json::array();
  bool all_fine = true;
  std::FILE* out = as_json ? stderr : stdout;
  for (const agent::ModelConfig& model : config.models) {
    agent::Request request;
    request.messages.push_back({agent::Message::Role::kUser, "Answer with the word ready.", {}, {}, false, json::array()});
    request.max_output_tokens = 256;
    agent::Budget budget(config.limits);
    const agent::Cost most = agent::most_cost_of(request, model.price);
    agent::BudgetGate gate(budget, most, model.price);
    agent::Exchange exchange;
    agent::RetryPolicy once;
    once.attempts = 2;
    once.total = std::chrono::seconds(30);
    if (auto client = agent::make_client(model, nullptr, agent::system_waiting(), once)) {
      agent::Call call;
      call.gate = &gate;
      call.cancelled = interrupted;
      exchange = (*client)->complete(request, call);
    } else {
      exchange.problem = client.error().to_string();
    }
    // A model that thinks may use up so few tokens before it says a word; it is there even so.
    const bool fine = exchange.reply && (!exchange.reply->text.empty() || exchange.reply->stop == agent::Stop::kLength);
    if (exchange.reply && !fine) exchange.problem = "it answered with nothing";
    all_fine = all_fine && fine;
    const double seconds = exchange.attempts.empty() ? 0 : static_cast<double>(exchange.attempts.back().latency_ns) * 1e-9;
    const double dollars = static_cast<double>(gate.charged().nanodollars) * 1e-9;
    fmt::print(out, "{}: {}\n", model.name,
               fine ? fmt::format("answers, {:.1f} s, {} tokens{}", seconds, gate.charged().tokens, model.price ? fmt::format(", ${:.6f}", dollars) : ", no price known")
                    : exchange.problem);
    rows.push_back({{"model", model.name}, {"answers", fine}, {"problem", exchange.problem}, {"seconds", seconds}, {"tokens", gate.charged().tokens},
                    {"dollars", model.price ? json(dollars) : json()}, {"price_as_of", model.price ? json(model.price->as_of) : json()}});
  }
  if (as_json) fmt::print("{}\n", base::canonical_json(json{{"models", rows}}));
  return all_fine ? 0 : 1;
}

}  // namespace hone::face
