// Lists of values as T1 files write them, in a part of Python's notation. Pure; thread-safe.
#pragma once
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/search/tune/value.h"

namespace hone::search::tune {

/// "[16, 32]", "['a', 'b']", "(True, False)", "range(1, 9)", "list(range(2, 10, 2))", "[2 ** i for i in range(5)]",
/// "[a * b for a in [1, 2] for b in range(3) if a != b]", "[1] + [32 * i for i in range(1, 9)]", with Condition's
/// expressions inside. kInput: what is wrong; more than 100,000 values.
[[nodiscard]] Result<std::vector<Value>> parse_values(std::string_view text);

}  // namespace hone::search::tune
