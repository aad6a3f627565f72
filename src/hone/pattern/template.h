// Pattern files with slots. A slot is @name@ in the text; every slot must be filled and every filling
// used, else it is our bug. Files are embedded from patterns/.
#pragma once
#include <cctype>
#include <map>
#include <string>
#include <string_view>

#include "hone/kernel/kernel.h"

namespace hone::pattern {

/// Whether a name in a kernel's text may hold it.
[[nodiscard]] inline bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

using Slots = std::map<std::string, std::string, std::less<>>;

/// Every whole word that `names` knows, replaced.
[[nodiscard]] std::string renamed(std::string_view text, const Slots& names);

/// The embedded file `name` ("patterns/cpp/rows.cc") with its slots filled.
[[nodiscard]] std::string fill_pattern(std::string_view name, const Slots& slots);

/// A filled pattern as a kernel of its author; a mistake in it is our bug.
[[nodiscard]] kernel::Kernel finished(const std::string& source, const std::string& pattern);

}  // namespace hone::pattern
