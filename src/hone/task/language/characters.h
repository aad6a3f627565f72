// What the lexers of tasks and of integer expressions take for a digit and for a name. ASCII only.
#pragma once
#include <cctype>

namespace hone::task {

[[nodiscard]] inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
[[nodiscard]] inline bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
[[nodiscard]] inline bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

}  // namespace hone::task
