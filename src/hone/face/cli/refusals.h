// Why a run has no champion, or went without what it was given: a line each, from its log. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/archive/store.h"

namespace hone::face {

/// What the first kernels were refused for, each reason once, and what to do; empty where nothing was refused.
[[nodiscard]] std::string refusals_text(const std::vector<archive::Event>& events);

/// That the kernel which the run was to begin from was refused, and why; empty where it was not, or there was none.
[[nodiscard]] std::string start_text(const std::vector<archive::Event>& events, const std::string& start_source);

/// That models gave no answer, and why; empty where all did.
[[nodiscard]] std::string models_text(const std::vector<archive::Event>& events);

}  // namespace hone::face
