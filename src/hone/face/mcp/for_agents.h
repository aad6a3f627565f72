// How a tool's answer is written for an agent: numbers with as many digits as are known, what was decided first. What machines
// replay is not written here. Pure.
#pragma once
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace hone::face::mcp {

/// Its numbers that are not whole, to four digits: what is whole was counted.
[[nodiscard]] nlohmann::json rounded(nlohmann::json value);

/// As canonical JSON, but an object's verdict, comparison, status and reason come first.
[[nodiscard]] std::string verdict_first(const nlohmann::json& value);

}  // namespace hone::face::mcp
