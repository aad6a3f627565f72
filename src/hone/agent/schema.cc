#include "hone/agent/schema.h"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <fmt/format.h>

#include "hone/agent/model/message.h"
#include "hone/agent/prompt.h"

namespace hone::agent {
namespace {

using nlohmann::json;

/// What a schema's type is called by whoever has to give one.
std::string_view called(std::string_view type) {
  if (type == "array") return "a list";
  if (type == "object") return "an object";
  if (type == "string") return "text";
  if (type == "integer") return "a whole number";
  return type == "boolean" ? "true or false" : "a number";
}

bool is_of(std::string_view type, const json& v) {
  if (type == "array") return v.is_array();
  if (type == "object") return v.is_object();
  if (type == "string") return v.is_string();
  if (type == "integer") return v.is_number_integer();
  return type == "boolean" ? v.is_boolean() : v.is_number();
}

std::string names_of(const json& object) {
  std::vector<std::string> names;
  for (const auto& [name, rest] : object.items()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is wrong, and what would fit, of the common slips; empty: something else is.
std::string slip(const json& schema, const json& value, const std::string& where) {
  const auto here = [&] { return where.empty() ? std::string("the whole") : '"' + where + '"'; };
  if (schema.contains("enum"))
    return std::find(schema["enum"].begin(), schema["enum"].end(), value) != schema["enum"].end()
               ? std::string() : fmt::format("{} is {}; it has to be one of {}", here(), one_line(value.dump(), 60), schema["enum"].dump());
  if (const std::string type = schema.value("type", ""); !type.empty() && !is_of(type, value)) return fmt::format("{} has to be {}", here(), called(type));
  if (value.is_object()) {
    const json known = schema.value("properties", json::object());
    for (const auto& name : schema.value("required", json::array()))
      if (!value.contains(name.get<std::string>())) return fmt::format("\"{}\" is missing; there are {}", name.get<std::string>(), names_of(known));
    for (const auto& [name, item] : value.items()) {
      if (known.contains(name)) {
        if (std::string found = slip(known[name], item, where.empty() ? name : where + "." + name); !found.empty()) return found;
      } else if (schema.value("additionalProperties", json(true)) == json(false)) {
        return fmt::format("there is no \"{}\"; there are {}", one_line(name, 60), names_of(known));
      }
    }
  }
  if (value.is_array()) {
    for (size_t i = 0; i < value.size() && schema.contains("items"); ++i)
      if (std::string found = slip(schema["items"], value[i], fmt::format("{}[{}]", where, i)); !found.empty()) return found;
    if (value.size() > schema.value("maxItems", value.size()))
      return fmt::format("{} has {} entries, {} at the most", here(), value.size(), schema["maxItems"].dump());
  }
  if (value.is_string()) {
    const size_t length = value.get_ref<const std::string&>().size();
    if (length > schema.value("maxLength", length)) return fmt::format("{} is {} characters long, {} at the most", here(), length, schema["maxLength"].dump());
    if (length < schema.value("minLength", size_t{0})) return fmt::format("{} is empty", here());
    if (schema.contains("pattern") && !std::regex_search(value.get_ref<const std::string&>(), std::regex(schema.value("pattern", ""))))
      return fmt::format("{} is not of the form {} ({})", here(), schema["pattern"].dump(), schema.value("description", "see the schema"));
  }
  if (value.is_number()) {
    if (schema.contains("minimum") && value < schema["minimum"])
      return fmt::format("{} is {}, {} at the least", here(), value.dump(), schema["minimum"].dump());
    if (schema.contains("maximum") && value > schema["maximum"])
      return fmt::format("{} is {}, {} at the most", here(), value.dump(), schema["maximum"].dump());
  }
  return {};
}

}  // namespace

std::optional<std::string> violation(const nlohmann::json& schema, const nlohmann::json& value) {
  try {
    valijson::Schema parsed;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), parsed);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(parsed, valijson::adapters::NlohmannJsonAdapter(value), &results)) return std::nullopt;
    if (std::string said = slip(schema, value, ""); !said.empty()) return bounded(said, 600);
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
