// A tunable's value: an integer, a real number or text. Plain values; thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

namespace hone::search::tune {

using Value = std::variant<int64_t, double, std::string>;

[[nodiscard]] inline bool is_number(const Value& value) { return !std::holds_alternative<std::string>(value); }

/// The number; 0 for text.
[[nodiscard]] inline double number_of(const Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return 0;
}

/// As Python compares: 16 is 16.0, text is never a number.
[[nodiscard]] inline bool same_value(const Value& a, const Value& b) {
  if (is_number(a) != is_number(b)) return false;
  return is_number(a) ? number_of(a) == number_of(b) : std::get<std::string>(a) == std::get<std::string>(b);
}

/// As Python prints it: 16, 0.5, 16.0, text without quotes.
[[nodiscard]] std::string text_of(const Value& value);

}  // namespace hone::search::tune
