// Language models as the command line names them: --model, --models, --model-budget, and `hone models`.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/engine/desk.h"

namespace hone::face {

struct ModelArguments {
  std::vector<std::string> models;       ///< --model
  std::string file;                      ///< --models
  std::string budget;                    ///< --model-budget
};

/// agent::ModelsConfig as a run keeps it, with prices, and held to what it may cost at most; empty where no model is named.
[[nodiscard]] Result<std::string> models_json_of(const ModelArguments& arguments);

/// "models: a, b; at most $1.2345: …": which they are and what they may cost, before a run begins.
[[nodiscard]] std::string models_line(const std::string& models_json);

/// Of a run that somebody else asks for: the models `names` out of those of `allowed` (as above), within the smaller of its budget and
/// `budget`. kInput where one is not among them; empty where nobody is named.
[[nodiscard]] Result<std::string> models_among(const std::string& allowed, const std::vector<std::string>& names, const std::string& budget);

/// Clients for it; keys are read here. Empty text: none.
[[nodiscard]] Result<engine::ModelServices> model_services(const std::string& models_json);

/// One tiny call to each; 1 where one does not answer.
[[nodiscard]] Result<int> test_models(const ModelArguments& arguments, bool json);

}  // namespace hone::face
