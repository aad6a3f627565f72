// C++ source as tokens, as far as moving a file into a namespace of another one takes: includes come
// out, macros are listed, C linkage goes. Knows comments, literals and directives; expands nothing.
// Pure. Fails (kInput) where a file cannot be moved, saying at which line.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::face {

enum class CppToken : uint8_t {
  kSpace,      ///< blanks and newlines
  kComment,
  kDirective,  ///< a whole logical line that begins with #, without its newline
  kWord,       ///< identifier or keyword
  kNumber,
  kLiteral,    ///< string or character, raw ones too, prefix included
  kOther,      ///< one character
};

struct CppPiece {
  CppToken kind;
  std::string text;
};

/// The texts of the pieces, joined, are `source`. Never fails: what makes no sense is kOther.
[[nodiscard]] std::vector<CppPiece> tokenize_cpp(std::string_view source);

/// True where some identifier of `source` is `word`; comments and literals do not count.
[[nodiscard]] bool uses_word(const std::vector<CppPiece>& pieces, std::string_view word);

/// A source ready to stand inside a namespace.
struct MovedSource {
  std::string text;
  std::set<std::string> system;      ///< "<cmath>": to be included above the namespace
  std::vector<std::string> hone;     ///< "hone/cpu.h": to be put above it
  std::vector<std::string> macros;   ///< defined in it, in order of first definition
};

/// `outside` are the texts that leave and re-enter the namespace around an include that stands under
/// a condition, so that the condition keeps its meaning. Functions named in `functions` lose their C
/// linkage, and so does every other that is defined here: they become local to the file.
struct Outside {
  std::string leave, enter;
};
[[nodiscard]] Result<MovedSource> move_source(std::string_view source, const std::string& path,
                                              const std::set<std::string>& functions, const Outside& outside);

}  // namespace hone::face
