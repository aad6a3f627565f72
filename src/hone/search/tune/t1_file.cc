#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hone/search/tune/space_files.h"
#include "hone/search/tune/value_json.h"
#include "hone/search/tune/value_list.h"

namespace hone::search::tune {
namespace {

using base::Json;

Result<std::vector<Value>> values_from(const Json& list) {
  if (list.is_string()) return parse_values(list.get<std::string>());
  if (!list.is_array()) return fail(ErrorCode::kInput, "no list");
  std::vector<Value> all;
  for (const Json& value : list) {
    const auto read = value_of(value);
    if (!read) return fail(ErrorCode::kInput, fmt::format("{} is no number and no text", value.dump()));
    all.push_back(*read);
  }
  return all;
}

}  // namespace

Result<Space> parse_t1(std::string_view text, std::string_view name) {
  const auto wrong = [&](std::string message) {
    return fail(ErrorCode::kInput, std::move(message), "a T1 file holds ConfigurationSpace with TuningParameters and Conditions", std::string(name));
  };
  HONE_TRY(const Json file, base::parse_json(text, name));
  if (!file.is_object() || !file.contains("ConfigurationSpace") || !file["ConfigurationSpace"].is_object()) return wrong("there is no \"ConfigurationSpace\"");
  const Json& space = file["ConfigurationSpace"];
  if (!space.contains("TuningParameters") || !space["TuningParameters"].is_array()) return wrong("there is no \"TuningParameters\"");
  std::vector<Parameter> parameters;
  std::vector<std::string> names;
  for (const Json& entry : space["TuningParameters"]) {
    if (!entry.is_object() || !entry.contains("Name") || !entry["Name"].is_string() || !entry.contains("Values")) return wrong("a tuning parameter without Name or Values");
    Parameter parameter{entry["Name"].get<std::string>(), {}};
    auto values = values_from(entry["Values"]);
    if (!values) return wrong(fmt::format("the Values of {}: {}", parameter.name, values.error().message));
    parameter.values = std::move(*values);
    names.push_back(parameter.name);
    parameters.push_back(std::move(parameter));
  }
  std::vector<Condition> conditions;
  if (space.contains("Conditions") && space["Conditions"].is_array())
    for (const Json& entry : space["Conditions"]) {
      const Json& expression = entry.is_object() && entry.contains("Expression") ? entry["Expression"] : entry;
      if (!expression.is_string()) return wrong("a condition without an Expression");
      auto condition = Condition::parse(expression.get<std::string>(), names);
      if (!condition) return wrong(condition.error().message);
      conditions.push_back(std::move(*condition));
    }
  auto made = Space::make(std::move(parameters), std::move(conditions));
  if (!made) return wrong(made.error().message);
  return made;
}

Result<TuningCache> within(const TuningCache& cache, const Space& t1, std::string_view cache_name, std::string_view t1_name) {
  const auto mismatch = [&](std::string_view what) {
    return fail(ErrorCode::kInput, fmt::format("{} and {} do not belong together: {}", cache_name, t1_name, what));
  };
  std::vector<size_t> order;  // t1's parameter -> the cache's
  for (const Parameter& parameter : t1.parameters()) {
    const auto found = std::find_if(cache.parameters.begin(), cache.parameters.end(), [&](const Parameter& p) { return p.name == parameter.name; });
    if (found == cache.parameters.end()) return mismatch(fmt::format("the first has no parameter {}", parameter.name));
    order.push_back(static_cast<size_t>(found - cache.parameters.begin()));
  }
  for (const Parameter& parameter : cache.parameters)
    if (std::none_of(t1.parameters().begin(), t1.parameters().end(), [&](const Parameter& p) { return p.name == parameter.name; }))
      return mismatch(fmt::format("the second has no parameter {}", parameter.name));
  TuningCache result = cache;
  result.parameters = t1.parameters();
  result.points.clear();
  result.keys.clear();
  result.measured.clear();
  for (size_t n = 0; n < cache.points.size(); ++n) {
    Point point;
    for (size_t p = 0; p < order.size(); ++p) {
      const Value& value = cache.parameters[order[p]].values[cache.points[n][order[p]]];
      const auto& values = t1.parameters()[p].values;
      const auto at = std::find_if(values.begin(), values.end(), [&](const Value& v) { return same_value(v, value); });
      if (at == values.end()) return mismatch(fmt::format("the second does not list {} = {}", t1.parameters()[p].name, text_of(value)));
      point.push_back(static_cast<uint16_t>(at - values.begin()));
    }
    if (!t1.allowed(point)) continue;
    result.points.push_back(std::move(point));
    result.keys.push_back(cache.keys[n]);
    result.measured.push_back(cache.measured[n]);
  }
  if (result.points.empty()) return mismatch("no configuration of the first fulfils the conditions of the second");
  return result;
}

}  // namespace hone::search::tune
