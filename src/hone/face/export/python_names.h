// Words of generated Python: identifiers, literals, element types. Pure.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "hone/task/types.h"

namespace hone::face {

/// `wanted`, with _ behind it as long as it is a word of Python's or among `taken`.
[[nodiscard]] std::string python_name(std::string wanted, const std::set<std::string>& taken);

/// A string literal in double quotes.
[[nodiscard]] std::string python_string(std::string_view text);

}  // namespace hone::face
