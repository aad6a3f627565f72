// Which models there are: read from a file (TOML, docs/agents.md) or from the command line, and made into
// clients. A configuration holds no key, only where one is: it is kept with the run. Prices come from the
// user's file, else from the dated one inside hone. What is wrong is kInput with line and column.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/agent/model/budget.h"
#include "hone/agent/model/client.h"

namespace hone::agent {

struct ModelConfig {
  std::string name;                   ///< as reports call it
  bool command_model = false;
  std::string command;                ///< command_model
  Endpoint endpoint;                  ///< else
  std::string key_env, key_file;
  int max_output_tokens = 8192;
  double share = 1;                   ///< how often it is asked before anything is known of it, against the others
  int seconds = 600;                  ///< for one answer
  bool tools = true;                  ///< may be offered tools
  bool later = false;                 ///< command_model: asked again, at no cost, where a run stopped before the answer was there
  std::optional<Price> price;
};

/// When a run asks a diagnoser about the kernel that an optimiser is to improve.
enum class Diagnose : uint8_t {
  kNever,
  kUnsure,   ///< where hone's rules name no bottleneck, or nothing that promises a gain
  kAlways,
};

struct ModelsConfig {
  std::vector<ModelConfig> models;
  ModelLimits limits;
  int calls_at_once = 4;
  bool feedback = true;               ///< false: each question is put as if it were the first
  bool patient = false;               ///< evaluations are kept for answers to come (engine::Consult::kept_back)
  /// As the file says; absent: as diagnoses() and researches() have it.
  std::optional<Diagnose> diagnose;
  std::optional<bool> research;
  /// Both are asked of runs with at least this many calls (or as many as they like), a diagnoser of others where the rules are
  /// unsure; neither without feedback.
  static constexpr int kManyCalls = 12;
  [[nodiscard]] Diagnose diagnoses() const;
  [[nodiscard]] bool researches() const;
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Result<ModelsConfig> from_json(std::string_view text);
};

/// A models file. `name` is for messages.
[[nodiscard]] Result<ModelsConfig> parse_models(std::string_view toml, const std::string& name);

/// One model as typed: "command:PROGRAM …", or "PROTOCOL:MODEL@URL" ("chat:qwen3@http://127.0.0.1:8000").
[[nodiscard]] Result<ModelConfig> model_from(const std::string& text);

/// Puts in the prices of models that have none. `user_file` need not exist.
[[nodiscard]] Status add_prices(ModelsConfig& config, const std::filesystem::path& user_file);

/// Reads the key and makes the client. `transport`: null for curl's.
[[nodiscard]] Result<std::unique_ptr<ModelClient>> make_client(const ModelConfig& config, std::shared_ptr<HttpTransport> transport,
                                                               const Waiting& waiting, const RetryPolicy& policy = {});

/// "3.5" as dollars; kUsage for what is no amount.
[[nodiscard]] Result<int64_t> nanodollars_of(double dollars);

}  // namespace hone::agent
