// Words and limits that a team's prompts share. Pure.
#pragma once
#include <string>

#include "hone/kernel/kernel.h"

namespace hone::agent {

/// Repairs of one kernel that are asked for.
inline constexpr int kFixes = 3;

/// How the fence around a kernel is marked.
[[nodiscard]] std::string fence_of(kernel::Language language);

/// The kernel's file with its configuration, as material.
[[nodiscard]] std::string source_of(const kernel::Kernel& kernel);

}  // namespace hone::agent
