// What a C++ kernel's source may not say, because nobody can look into it afterwards: assembly, as statements or
// hidden in names, and questions to the compiler whose answer changes when the build is watched. Pure.
#pragma once
#include <string>
#include <string_view>

namespace hone::target {

/// Why a kernel's text may not go through the preprocessor: it says that its lines are somebody else's, or
/// asks for files. Empty when it may.
[[nodiscard]] std::string refuse_directives(std::string_view source);

/// Why what the preprocessor made of a unit may not be compiled; empty when it may. Text is looked at where the
/// preprocessor's markers say that it is of no file with an absolute path: a header's is trusted.
[[nodiscard]] std::string refuse_text(std::string_view preprocessed);

}  // namespace hone::target
