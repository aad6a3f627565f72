// JSON at our edges. Writing is canonical: the same value always gives the same bytes, so that text can
// be hashed and compared. Reading never throws: what is wrong comes back as an Error with line and
// column, or with the name of the member. Pure; thread-safe.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::base {

using Json = nlohmann::json;

/// What was not as it has to be where JSON was read (fields.h), the first first: "screening.verdict is missing".
using Notes = std::vector<std::string>;

/// Keys in byte order, no white space, doubles as the shortest text that reads back as the same
/// double (always with a point or an exponent, so that they read back as doubles), NaN and
/// infinities as null, bytes that are not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string canonical_json(const Json& value);

/// `name` says where the text came from, for the error's context. Refuses more than 256 levels.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view name);

/// A member of an object, or an Error (kInput) that names it and says what was found instead.
[[nodiscard]] Result<std::string> string_at(const Json& object, std::string_view key);
[[nodiscard]] Result<int64_t> int_at(const Json& object, std::string_view key);
[[nodiscard]] Result<bool> bool_at(const Json& object, std::string_view key);
/// Any number; null, which is how NaN was written, is NaN again.
[[nodiscard]] Result<double> number_at(const Json& object, std::string_view key);

}  // namespace hone::base
