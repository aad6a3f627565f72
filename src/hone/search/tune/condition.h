// Conditions over tunables, as tuning spaces of other programs write them: a bounded part of Python's
// expressions. Parsed once, evaluated often. Immutable; thread-safe. What is wrong is an Error (kInput) with
// the column.
//
// Grammar, loosest first:  a if c else b | or | and | not | == != < <= > >= in, not in (they chain) | + - |
// * / // % | unary - + | ** | calls min max abs int float round ceil floor | (…) [… , …] | numbers, 'text',
// True, False, names. As in Python, / gives a real number, // and % floor, `and` and `or` give an operand.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/search/tune/value.h"

namespace hone::search::tune {

class Condition {
 public:
  /// `names` are the tunables, in the order in which holds() gets their values. At most 10,000 characters.
  [[nodiscard]] static Result<Condition> parse(std::string_view text, std::span<const std::string> names);

  /// Whether the condition is true of these values. Division by zero, text where a number is needed and the
  /// like make it false: such a configuration can't be built.
  [[nodiscard]] bool holds(std::span<const Value* const> values) const;

  /// What it is as an expression; nothing where holds() is false for having no value, and for a list.
  [[nodiscard]] std::optional<Value> value(std::span<const Value* const> values) const;

  /// Indices of the tunables it speaks of.
  [[nodiscard]] const std::set<int>& uses() const;
  [[nodiscard]] const std::string& text() const;

  struct Program;

 private:
  explicit Condition(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace hone::search::tune
