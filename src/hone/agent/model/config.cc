#include "hone/agent/model/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/fields.h"
#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/task/toml_guard.h"

namespace hone::agent {
namespace {

using nlohmann::json;

constexpr int kMostAtOnce = 32;
constexpr int kMostOutput = 1 << 20;

/// Reads one table; errors carry the place.
class Table {
 public:
  Table(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  [[nodiscard]] tl::unexpected<Error> error(const toml::node& node, std::string message, std::string hint = {}) const {
    const auto where = node.source().begin;
    return fail(ErrorCode::kInput, std::move(message), std::move(hint), fmt::format("{}:{}:{}", file_, where.line, where.column));
  }
  Status only(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        const bool secret = key.str() == "key" || key.str() == "api_key";
        return error(node, fmt::format("unknown key \"{}\"", key.str()),
                     secret ? "a key does not belong into this file: name a variable with key_env, or a file with key_file"
                            : fmt::format("known here: {}", fmt::join(known, ", ")));
      }
    return {};
  }
  Status text(std::string_view key, std::string& out) const {
    const toml::node* node = table_.get(key);
    if (!node) return {};
    const auto value = node->value_exact<std::string>();
    if (!value) return error(*node, fmt::format("\"{}\" must be a string", key));
    out = *value;
    return {};
  }
  Status number(std::string_view key, double low, double high, double& out) const {
    const toml::node* node = table_.get(key);
    if (!node) return {};
    const auto value = node->value<double>();
    if (!node->is_number() || !value || !(*value >= low && *value <= high))
      return error(*node, fmt::format("\"{}\" must be a number from {} to {}", key, low, high));
    out = *value;
    return {};
  }
  Status integer(std::string_view key, int64_t low, int64_t high, int64_t& out) const {
    const toml::node* node = table_.get(key);
    if (!node) return {};
    const auto value = node->value_exact<int64_t>();
    if (!value || *value < low || *value > high) return error(*node, fmt::format("\"{}\" must be an integer from {} to {}", key, low, high));
    out = *value;
    return {};
  }
  Status flag(std::string_view key, bool& out) const {
    const toml::node* node = table_.get(key);
    if (!node) return {};
    const auto value = node->value_exact<bool>();
    if (!value) return error(*node, fmt::format("\"{}\" must be true or false", key));
    out = *value;
    return {};
  }
  [[nodiscard]] const toml::table& raw() const { return table_; }

 private:
  const toml::table& table_;
  const std::string& file_;
};

Result<Price> price_of(const toml::node& node, const std::string& file) {
  const toml::table* all = node.as_table();
  if (!all) return Table(toml::table{}, file).error(node, "a price must be a table", "{ input = 1.0, output = 5.0 }: dollars for a million tokens");
  const Table table(*all, file);
  HONE_TRY_VOID(table.only({"input", "cache_read", "cache_write", "output", "as_of"}));
  if (!all->contains("input") || !all->contains("output")) return table.error(node, "a price needs \"input\" and \"output\"");
  Price price;
  HONE_TRY_VOID(table.number("input", 0, 1e6, price.input));
  HONE_TRY_VOID(table.number("output", 0, 1e6, price.output));
  price.cache_read = price.cache_write = price.input;
  HONE_TRY_VOID(table.number("cache_read", 0, 1e6, price.cache_read));
  HONE_TRY_VOID(table.number("cache_write", 0, 1e6, price.cache_write));
  HONE_TRY_VOID(table.text("as_of", price.as_of));
  return price;
}

Status check(const ModelConfig& model) {
  if (model.command_model) {
    if (model.command.empty()) return fail(ErrorCode::kInput, fmt::format("the model {} names no program", model.name));
    return {};
  }
  const std::string& url = model.endpoint.url;
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(ErrorCode::kInput, fmt::format("the model {} has no address: \"{}\"", model.name, url), "url = \"http://127.0.0.1:8000\"");
  if (url.find_first_of(" \t\r\n@") != std::string::npos)
    return fail(ErrorCode::kInput, fmt::format("the address of the model {} holds blanks or a user name", model.name),
                "keys go into a variable (key_env) or a file (key_file)");
  if (model.endpoint.model.empty()) return fail(ErrorCode::kInput, fmt::format("the model {} lacks \"model\", the provider's name of it", model.name));
  return {};
}

Result<ModelConfig> read_model(const toml::table& raw, const std::string& file) {
  const Table table(raw, file);
  HONE_TRY_VOID(table.only({"name", "protocol", "url", "model", "command", "key_env", "key_file", "max_output_tokens", "temperature",
                            "share", "seconds", "tools", "later", "price"}));
  ModelConfig model;
  std::string protocol = "chat";
  HONE_TRY_VOID(table.text("protocol", protocol));
  HONE_TRY_VOID(table.text("name", model.name));
  HONE_TRY_VOID(table.text("url", model.endpoint.url));
  HONE_TRY_VOID(table.text("model", model.endpoint.model));
  HONE_TRY_VOID(table.text("command", model.command));
  HONE_TRY_VOID(table.text("key_env", model.key_env));
  HONE_TRY_VOID(table.text("key_file", model.key_file));
  model.command_model = raw.contains("command");
  if (!model.command_model) {
    const auto known = protocol_from(protocol);
    if (!known) return table.error(*raw.get("protocol"), fmt::format("unknown protocol \"{}\"", protocol), "one of chat, responses, messages");
    model.endpoint.protocol = *known;
  }
  int64_t output = model.max_output_tokens, seconds = model.seconds;
  HONE_TRY_VOID(table.integer("max_output_tokens", 16, kMostOutput, output));
  HONE_TRY_VOID(table.integer("seconds", 1, 86400, seconds));
  model.max_output_tokens = static_cast<int>(output);
  model.seconds = static_cast<int>(seconds);
  HONE_TRY_VOID(table.number("share", 0.001, 1000, model.share));
  HONE_TRY_VOID(table.flag("tools", model.tools));
  HONE_TRY_VOID(table.flag("later", model.later));
  if (model.later && !model.command_model) return table.error(*raw.get("later"), "only a command may answer later", "an address is paid for every time that it is asked");
  if (raw.contains("temperature")) {
    double temperature = 0;
    HONE_TRY_VOID(table.number("temperature", 0, 2, temperature));
    model.endpoint.temperature = temperature;
  }
  if (const toml::node* price = raw.get("price")) {
    HONE_TRY(model.price, price_of(*price, file));
  }
  if (model.name.empty()) model.name = model.command_model ? "command" : model.endpoint.model;
  auto fine = check(model);
  if (!fine) {
    fine.error().context = fmt::format("{}:{}", file, raw.source().begin.line);
    return tl::unexpected(fine.error());
  }
  return model;
}

json price_json(const std::optional<Price>& price) {
  if (!price) return {};
  return {{"input", price->input}, {"cache_read", price->cache_read}, {"cache_write", price->cache_write}, {"output", price->output},
          {"as_of", price->as_of}};
}

}  // namespace

Result<ModelsConfig> parse_models(std::string_view text, const std::string& name) {
  if (const auto problem = task::toml_guard(text))
    return fail(ErrorCode::kInput, fmt::format("the models file does not parse: {}", problem->message), problem->hint, fmt::format("{}:{}", name, problem->where.line));
  const toml::parse_result document = toml::parse(text);
  if (!document)
    return fail(ErrorCode::kInput, fmt::format("the models file does not parse: {}", document.error().description()), "it is TOML",
                fmt::format("{}:{}", name, document.error().source().begin.line));
  const Table table(document.table(), name);
  HONE_TRY_VOID(table.only({"model", "budget", "calls_at_once", "feedback", "patient", "diagnose", "research"}));
  ModelsConfig config;
  int64_t at_once = config.calls_at_once;
  HONE_TRY_VOID(table.integer("calls_at_once", 1, kMostAtOnce, at_once));
  config.calls_at_once = static_cast<int>(at_once);
  HONE_TRY_VOID(table.flag("feedback", config.feedback));
  HONE_TRY_VOID(table.flag("patient", config.patient));
  bool flag = false;
  if (document.table().contains("diagnose")) {
    HONE_TRY_VOID(table.flag("diagnose", flag));
    config.diagnose = flag ? Diagnose::kAlways : Diagnose::kNever;
  }
  if (document.table().contains("research")) {
    HONE_TRY_VOID(table.flag("research", flag));
    config.research = flag;
  }
  if (const toml::node* node = document.table().get("budget")) {
    const toml::table* raw = node->as_table();
    if (!raw) return table.error(*node, "\"budget\" must be a table", "[budget]\ndollars = 2.0\ntokens = 2000000\ncalls = 60");
    const Table budget(*raw, name);
    HONE_TRY_VOID(budget.only({"dollars", "tokens", "calls"}));
    double dollars = 0;
    int64_t calls = 0;
    HONE_TRY_VOID(budget.number("dollars", 0, 1e6, dollars));
    HONE_TRY_VOID(budget.integer("tokens", 0, int64_t{1} << 50, config.limits.tokens));
    HONE_TRY_VOID(budget.integer("calls", 0, 1'000'000, calls));
    HONE_TRY(config.limits.nanodollars, nanodollars_of(dollars));
    config.limits.calls = static_cast<int>(calls);
  }
  const toml::array* models = document.table()["model"].as_array();
  if (!models || models->empty()) return fail(ErrorCode::kInput, "no [[model]] in the models file", "see docs/models.toml", name);
  std::set<std::string> names;
  for (const toml::node& node : *models) {
    const toml::table* raw = node.as_table();
    if (!raw) return table.error(node, "each [[model]] must be a table");
    HONE_TRY(ModelConfig model, read_model(*raw, name));
    if (!names.insert(model.name).second) return table.error(node, fmt::format("two models are called \"{}\"", model.name));
    config.models.push_back(std::move(model));
  }
  return config;
}

Result<ModelConfig> model_from(const std::string& text) {
  ModelConfig model;
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  constexpr const char* kHint = "command:PROGRAM, or chat:MODEL@URL, responses:MODEL@URL, messages:MODEL@URL; --models FILE says more";
  if (kind == "command") {
    model.command_model = true;
    model.command = rest;
    model.name = text.substr(0, 60);
  } else if (const auto protocol = protocol_from(kind)) {
    const size_t at = rest.find("@http");
    if (at == std::string::npos) return fail(ErrorCode::kUsage, fmt::format("\"{}\" names no address", text), kHint);
    model.endpoint.protocol = *protocol;
    model.endpoint.model = model.name = rest.substr(0, at);
    model.endpoint.url = rest.substr(at + 1);
    if (model.endpoint.url.find("api.openai.com") != std::string::npos) model.key_env = "OPENAI_API_KEY";
    if (model.endpoint.url.find("api.anthropic.com") != std::string::npos) model.key_env = "ANTHROPIC_API_KEY";
  } else {
    return fail(ErrorCode::kUsage, fmt::format("\"{}\" is no model", text), kHint);
  }
  HONE_TRY_VOID(check(model));
  return model;
}

Status add_prices(ModelsConfig& config, const std::filesystem::path& user_file) {
  std::vector<std::pair<std::string, std::string>> files;
  std::error_code ignored;
  if (std::filesystem::exists(user_file, ignored)) {
    HONE_TRY(std::string text, base::read_file(user_file));
    files.emplace_back(std::move(text), user_file.string());
  }
  if (const auto own = base::find_embedded("agent/prices.toml")) files.emplace_back(std::string(*own), "prices.toml");
  for (const auto& [text, name] : files) {
    if (const auto problem = task::toml_guard(text))
      return fail(ErrorCode::kInput, fmt::format("the prices file does not parse: {}", problem->message), problem->hint, fmt::format("{}:{}", name, problem->where.line));
    const toml::parse_result document = toml::parse(text);
    if (!document)
      return fail(ErrorCode::kInput, fmt::format("the prices file does not parse: {}", document.error().description()), "it is TOML",
                  fmt::format("{}:{}", name, document.error().source().begin.line));
    for (const auto& [key, node] : document.table())
      for (ModelConfig& model : config.models) {
        if (model.price || model.command_model || model.endpoint.model != key.str()) continue;
        HONE_TRY(model.price, price_of(node, name));
      }
  }
  if (config.limits.nanodollars > 0)
    for (const ModelConfig& model : config.models)
      if (!model.price && !model.command_model)
        return fail(ErrorCode::kInput, fmt::format("a budget in dollars, but no price of the model {} is known", model.name),
                    fmt::format("add it to {}, or give the model a price = {{ input = …, output = … }} (0 for your own machine)",
                                user_file.string()));
  return {};
}

Result<std::unique_ptr<ModelClient>> make_client(const ModelConfig& config, std::shared_ptr<HttpTransport> transport, const Waiting& waiting,
                                                 const RetryPolicy& policy) {
  Timeouts timeouts;
  timeouts.total = std::chrono::seconds(config.seconds);
  timeouts.idle = std::min(timeouts.idle, timeouts.total);
  if (config.command_model) return command_client(config.command, timeouts, *waiting.clock);
  Secret key;
  if (!config.key_file.empty()) {
    HONE_TRY(key, secret_from_file(config.key_file));
  } else if (!config.key_env.empty()) {
    HONE_TRY(key, secret_from_environment(config.key_env));
  }
  const bool local = config.endpoint.url.find("//127.0.0.1") != std::string::npos || config.endpoint.url.find("//localhost") != std::string::npos ||
                     config.endpoint.url.find("//[::1]") != std::string::npos;
  if (!key.empty() && config.endpoint.url.starts_with("http://") && !local)
    return fail(ErrorCode::kInput, fmt::format("the key of {} would travel unencrypted to {}", config.name, config.endpoint.url), "use https");
  if (!transport) transport = curl_transport();
  return http_client(config.endpoint, std::move(key), std::move(transport), policy, timeouts, waiting);
}

Result<int64_t> nanodollars_of(double dollars) {
  if (!(dollars >= 0 && dollars <= 1e6)) return fail(ErrorCode::kUsage, fmt::format("{} is no amount of dollars", dollars));
  return static_cast<int64_t>(std::llround(dollars * 1e9));
}

Diagnose ModelsConfig::diagnoses() const {
  if (!feedback) return Diagnose::kNever;
  if (diagnose) return *diagnose;
  return limits.calls == 0 || limits.calls >= kManyCalls ? Diagnose::kAlways : Diagnose::kUnsure;
}

bool ModelsConfig::researches() const { return feedback && research.value_or(limits.calls == 0 || limits.calls >= kManyCalls); }

std::string ModelsConfig::to_json() const {
  json out = {{"calls_at_once", calls_at_once}, {"tokens", limits.tokens}, {"nanodollars", limits.nanodollars}, {"calls", limits.calls},
              {"feedback", feedback}, {"patient", patient}, {"diagnose", static_cast<int>(diagnoses())}, {"research", researches()}, {"models", json::array()}};
  for (const ModelConfig& m : models)
    out["models"].push_back({{"name", m.name}, {"command", m.command_model ? json(m.command) : json()}, {"protocol", name_of(m.endpoint.protocol)},
                             {"url", m.endpoint.url}, {"model", m.endpoint.model}, {"key_env", m.key_env}, {"key_file", m.key_file},
                             {"temperature", m.endpoint.temperature ? json(*m.endpoint.temperature) : json()},
                             {"max_output_tokens", m.max_output_tokens}, {"share", m.share}, {"seconds", m.seconds}, {"tools", m.tools}, {"later", m.later},
                             {"price", price_json(m.price)}});
  return base::canonical_json(out);
}

Result<ModelsConfig> ModelsConfig::from_json(std::string_view text) try {
  const json in = json::parse(text);
  ModelsConfig config;
  config.calls_at_once = base::exactly<int>(in.at("calls_at_once"));
  config.feedback = in.value("feedback", true);
  config.patient = in.value("patient", false);
  // What a run was begun with before it could ask either: neither.
  const int diagnose = base::exactly(in, "diagnose", 0);
  if (diagnose < 0 || diagnose > static_cast<int>(Diagnose::kAlways)) return fail(ErrorCode::kCorrupt, "the run's models cannot be read");
  config.diagnose = static_cast<Diagnose>(diagnose);
  config.research = in.value("research", false);
  config.limits = {base::exactly<int64_t>(in.at("tokens")), base::exactly<int64_t>(in.at("nanodollars")), base::exactly<int>(in.at("calls"))};
  for (const json& m : in.at("models")) {
    ModelConfig model;
    model.name = m.at("name");
    model.command_model = m.at("command").is_string();
    if (model.command_model) model.command = m.at("command");
    const auto protocol = protocol_from(m.at("protocol").get<std::string>());
    if (!protocol) return fail(ErrorCode::kCorrupt, "the run's models cannot be read");
    model.endpoint = {*protocol, m.at("url"), m.at("model"), {}};
    if (m.at("temperature").is_number()) model.endpoint.temperature = m.at("temperature").get<double>();
    model.key_env = m.at("key_env");
    model.key_file = m.at("key_file");
    model.max_output_tokens = base::exactly<int>(m.at("max_output_tokens"));
    model.share = m.at("share");
    model.seconds = base::exactly<int>(m.at("seconds"));
    model.tools = m.at("tools");
    model.later = m.value("later", false);
    if (const json& p = m.at("price"); p.is_object())
      model.price = Price{p.at("input"), p.at("cache_read"), p.at("cache_write"), p.at("output"), p.at("as_of")};
    config.models.push_back(std::move(model));
  }
  return config;
} catch (const json::exception& e) {
  return fail(ErrorCode::kCorrupt, fmt::format("the run's models cannot be read: {}", e.what()));
}

}  // namespace hone::agent
