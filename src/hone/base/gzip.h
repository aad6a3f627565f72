// Gzip, in memory. Pure; thread-safe. What is cut off, damaged or larger than allowed is an Error (kInput).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::base {

/// True where `bytes` begin as a gzip file does.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// The content of a gzip file of one or more members; refused beyond `most` bytes. `name` is for the error's context.
[[nodiscard]] Result<std::string> gunzip(std::string_view bytes, size_t most, std::string_view name);

/// The same bytes for the same text: no time, no name.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace hone::base
