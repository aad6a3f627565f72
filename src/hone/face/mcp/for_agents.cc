#include "hone/face/mcp/for_agents.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"

namespace hone::face::mcp {

using nlohmann::json;

namespace {

constexpr const char* kFirst[] = {"verdict", "comparison", "status", "reason", "would_decide"};

}  // namespace

json rounded(json value) {
  if (value.is_number_float()) {
    const double v = value.get<double>();
    return std::isfinite(v) && v != std::floor(v) ? json(std::strtod(fmt::format("{:.4g}", v).c_str(), nullptr)) : value;
  }
  if (value.is_structured())
    for (json& inner : value) inner = rounded(std::move(inner));
  return value;
}

std::string verdict_first(const json& value) {
  if (!value.is_object()) return base::canonical_json(value);
  std::string out = "{";
  const auto add = [&](const std::string& key) { out += (out.size() > 1 ? "," : "") + base::canonical_json(key) + ":" + base::canonical_json(value.at(key)); };
  for (const char* key : kFirst)
    if (value.contains(key)) add(key);
  for (const auto& [key, inner] : value.items())
    if (std::ranges::find(kFirst, key) == std::end(kFirst)) add(key);
  return out + "}";
}

}  // namespace hone::face::mcp
