// Values of tunables to and from JSON. Pure; thread-safe.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "hone/search/tune/value.h"

namespace hone::search::tune {

/// Nothing for what is neither number, truth (which counts as 0 or 1) nor text.
[[nodiscard]] inline std::optional<Value> value_of(const nlohmann::json& json) {
  if (json.is_boolean()) return Value(int64_t{json.get<bool>()});
  if (json.is_number_integer()) return Value(json.get<int64_t>());
  if (json.is_number_float()) return Value(json.get<double>());
  if (json.is_string()) return Value(json.get<std::string>());
  return std::nullopt;
}

[[nodiscard]] inline nlohmann::ordered_json json_of(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, value);
}

}  // namespace hone::search::tune
