// Splits the text of a computation into tokens. Newlines end a statement outside brackets and are
// dropped inside; `#` starts a comment. Pure; fails with the position of the character it refuses.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/graph/graph.h"

namespace hone::task {

enum class TokenKind : uint8_t { kName, kInteger, kFloat, kString, kPunctuation, kNewline, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  ///< as written; of a string what is between the quotes
  Where where;       ///< line and column in the text, from 1; columns count bytes
};

/// "'+'", "the end of the line": for messages.
[[nodiscard]] std::string describe(const Token& token);

/// An error inside a computation, with the position it belongs to.
struct SourceError {
  Error error;
  Where where;
};
template <class T>
using Sourced = tl::expected<T, SourceError>;

[[nodiscard]] inline tl::unexpected<SourceError> fail_at(Where where, std::string message,
                                                         std::string hint = {}) {
  return tl::unexpected<SourceError>(
      SourceError{Error{ErrorCode::kInput, std::move(message), std::move(hint), {}}, where});
}

/// The tokens, ending with one kEnd; no two kNewline in a row.
[[nodiscard]] Sourced<std::vector<Token>> tokenize(std::string_view text);

}  // namespace hone::task
