// Colours for kernel sources: a small scanner that knows comments, strings, numbers, words and the TOML
// of a kernel's header. It does not parse; what it takes for code it need not understand. Whatever the
// input, the output is balanced markup with the same text, one element a line. Pure.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "hone/face/report/html.h"

namespace hone::face::report {

/// `language` as kernels name it ("c++", "cuda", "triton", …). `tunables` are marked where they occur.
[[nodiscard]] Markup highlight(std::string_view source, std::string_view language,
                               const std::set<std::string, std::less<>>& tunables);

}  // namespace hone::face::report
