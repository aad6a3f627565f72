// Programs that a profile asks, where this machine has them.
#pragma once
#include <initializer_list>
#include <string>

namespace hone::diagnose {

/// The first of `names` that is in the PATH; empty when none is.
[[nodiscard]] std::string first_tool(std::initializer_list<const char*> names);

}  // namespace hone::diagnose
