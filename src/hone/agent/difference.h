// Two texts that are nearly the same, as the lines in which they differ. Pure; thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hone::agent {

/// Lines of `before` that are not in `after` behind "-", those of `after` that are not in `before` behind "+", in order, with a line of
/// what they share before each such place. Nothing where that is more than half as long as `after`, or either is too long to compare.
[[nodiscard]] std::optional<std::string> difference(std::string_view before, std::string_view after);

}  // namespace hone::agent
