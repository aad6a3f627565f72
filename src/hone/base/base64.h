// Base64 with padding, as RFC 4648 writes it. Pure; thread-safe.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hone::base {

[[nodiscard]] std::string base64(std::string_view bytes);
/// None where the text is not base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace hone::base
