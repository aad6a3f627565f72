// A file of functions in Python, of which a kernel's module holds what it calls. Pure text.
#pragma once
#include <string>

namespace hone::pattern {

/// The functions of the embedded `path` that `text` calls, and those that they call, in their order, each behind two empty lines.
[[nodiscard]] std::string functions_of_file(const std::string& path, const std::string& text);

}  // namespace hone::pattern
