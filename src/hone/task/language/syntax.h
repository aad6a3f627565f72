// The syntax tree of a computation: statements `name, … = expression` over NumPy-like expressions.
// Grammar, loosest first:  or | and | not | == != < <= > >= | '|' | ^ | & | + - | * / // % @ |
// unary - + ~ | ** | postfix call, [subscript], .name | number, string, name, (…), [list].
// Plain values; parse_program fails with a position and what was expected there.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/language/lexer.h"

namespace hone::task {

struct Expr {
  enum class Kind : uint8_t {
    kInteger,
    kFloat,
    kString,
    kName,
    kUnary,      ///< text: "-", "~", "not"; args[0]
    kBinary,     ///< text: the operator; args[0], args[1]
    kCall,       ///< text: the function; args; names[i] the keyword of args[i] or empty. `x.f(a)` is f(x, a)
    kAttribute,  ///< text: the name; args[0]
    kList,       ///< [a, b] or (a, b)
    kSubscript,  ///< args[0] indexed by the others
    kSlice,      ///< start, stop, step in args; an absent one is kAbsent
    kEllipsis,
    kAbsent,
  };
  Kind kind = Kind::kAbsent;
  std::string text;
  std::vector<Expr> args;
  std::vector<std::string> names;
  Where where;
  int height = 1;  ///< nodes from here to the deepest leaf; at most kMaxChain
};

struct Statement {
  std::vector<std::string> targets;
  std::vector<Where> target_where;
  Expr value;
};

/// Words of Python that begin no value: and, for, if, …
[[nodiscard]] bool is_reserved(std::string_view name);

/// At most kMaxComputeBytes of text.
[[nodiscard]] Sourced<std::vector<Statement>> parse_program(std::string_view text);

}  // namespace hone::task
