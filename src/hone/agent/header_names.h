// What hone's device headers offer a kernel, read from their text: so no list of it can leave anything out. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hone::agent {

/// Functions, types, constants and macros that a header declares for whoever includes it: in namespace hone itself, not in namespaces within it, and macros
/// that it does not take back. In the order of the text, each once; operators and specialisations are not named.
[[nodiscard]] std::vector<std::string> public_names(std::string_view header);

/// The same of `root` ("hone/cpu.h") and all that it includes, a header after the other: "`cpu/scan.h`: `Scan LinearScan …`; …". Names that `told` has as words
/// are left out, those that an earlier header has, and headers without any of their own.
[[nodiscard]] std::string names_of_headers(std::string_view root, std::string_view told);

/// What may be included under a folder ("hone/gpu/"), by name, in one line: "`ahead.h attention.h …`".
[[nodiscard]] std::string headers_under(std::string_view folder);

}  // namespace hone::agent
