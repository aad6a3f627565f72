// What every page of ours stands in: one file, light and dark, no request to anywhere.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hone/face/report/html.h"

namespace hone::face::report {

/// The page with its style and script. `name` stands first in the navigation; of `links` (id, title) those whose
/// section is there follow.
[[nodiscard]] std::string document(std::string_view title, std::string_view name,
                                   std::span<const std::pair<std::string_view, std::string_view>> links, const Html& sections);

}  // namespace hone::face::report
