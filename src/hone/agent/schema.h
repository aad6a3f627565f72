// JSON Schema (draft 7): whether what a model or a client sent is what it should be. Pure; thread-safe.
#pragma once
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace hone::agent {

/// The first thing in `value` that `schema` does not allow, in one line; empty where all is well.
[[nodiscard]] std::optional<std::string> violation(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace hone::agent
