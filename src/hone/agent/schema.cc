#include "hone/agent/schema.h"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <fmt/format.h>

#include "hone/agent/model/message.h"

namespace hone::agent {

std::optional<std::string> violation(const nlohmann::json& schema, const nlohmann::json& value) {
  try {
    valijson::Schema parsed;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), parsed);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(parsed, valijson::adapters::NlohmannJsonAdapter(value), &results)) return std::nullopt;
    // The first is the outermost, the last the one that says what is really wrong.
    std::string text = "it does not fit the schema";
    valijson::ValidationResults::Error error;
    std::string where, what;
    while (results.popError(error)) {
      where.clear();
      for (const std::string& part : error.context) where += part;
      what = error.description;
      break;
    }
    if (!what.empty()) text = fmt::format("{} at {}", what, where);
    return bounded(text, 400);
  } catch (const std::exception& e) {
    return bounded(fmt::format("it cannot be checked: {}", e.what()), 400);
  }
}

}  // namespace hone::agent
