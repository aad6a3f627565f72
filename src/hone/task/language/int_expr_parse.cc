// Reads an integer expression: recursive descent, one function a level of the grammar.
#include <fmt/format.h>

#include <cctype>
#include <limits>

#include "hone/task/language/characters.h"
#include "hone/task/language/int_expr_node.h"
#include "hone/task/language/limits.h"

namespace hone::task {
namespace {

constexpr size_t kMaxText = 10'000;

struct KnownCall {
  std::string_view name;
  size_t least;
  size_t most;
};
constexpr KnownCall kCalls[] = {{"min", 1, 64},  {"max", 1, 64}, {"ceil_div", 2, 2},
                           {"align", 2, 2}, {"abs", 1, 1},  {"select", 3, 3}, {"next_power_of_2", 1, 1}};

class IntExprParser {
 public:
  explicit IntExprParser(std::string_view text) : text_(text) { advance(); }

  Result<IntExpr> parse() {
    if (text_.size() > kMaxText)
      return fail(ErrorCode::kInput, fmt::format("an expression of more than {} characters", kMaxText), "",
                  "column 1");
    HONE_TRY(IntExpr e, parse_or());
    if (!token_.empty()) return expected("an operator or the end");
    return e;
  }

 private:
  /// The next token: a name, a number, or one or two characters of punctuation; empty at the end.
  void advance() {
    size_t at = static_cast<size_t>(token_.data() == nullptr ? 0
                                                             : token_.data() - text_.data() + token_.size());
    while (at < text_.size() && std::isspace(static_cast<unsigned char>(text_[at])) != 0) ++at;
    size_t size = at < text_.size() ? 1 : 0;
    if (size != 0 && is_name_part(text_[at])) {
      while (at + size < text_.size() && is_name_part(text_[at + size])) ++size;
    } else if (at + 1 < text_.size()) {
      const std::string_view two = text_.substr(at, 2);
      if (two == "//" || two == "==" || two == "!=" || two == "<=" || two == ">=" || two == "**") size = 2;
    }
    while (at + size < text_.size() && (static_cast<unsigned char>(text_[at + size]) & 0xc0U) == 0x80U)
      ++size;
    token_ = text_.substr(at, size);
  }

  bool take(std::string_view token) {
    if (token_ != token || token_.empty()) return false;
    advance();
    return true;
  }

  [[nodiscard]] tl::unexpected<Error> error(std::string message, std::string hint = {}) const {
    const auto column = token_.data() - text_.data() + 1;
    return fail(ErrorCode::kInput, std::move(message), std::move(hint), fmt::format("column {}", column));
  }

  [[nodiscard]] tl::unexpected<Error> expected(std::string_view what) const {
    const std::string found = token_.empty() ? "the end" : fmt::format("'{}'", token_);
    std::string hint;
    if (token_ == "/") hint = "integer division is written //";
    if (token_ == "**") hint = "write a power as a product";
    if (token_ == "&") hint = "conditions are joined by 'and'";
    if (token_ == "=") hint = "equality is written ==";
    return error(fmt::format("expected {}, found {}", what, found), hint);
  }

  Result<IntExpr> parse_or() {
    if (++depth_ > kMaxNesting)
      return error(fmt::format("the expression is nested more than {} deep", kMaxNesting));
    HONE_TRY(IntExpr left, parse_and());
    while (take("or")) {
      HONE_TRY(const IntExpr right, parse_and());
      left = int_or(left, right);
    }
    --depth_;
    return left;
  }

  Result<IntExpr> parse_and() {
    HONE_TRY(IntExpr left, parse_not());
    while (take("and")) {
      HONE_TRY(const IntExpr right, parse_not());
      left = int_and(left, right);
    }
    return left;
  }

  Result<IntExpr> parse_not() {
    int count = 0;
    while (take("not")) ++count;
    HONE_TRY(IntExpr e, parse_comparison());
    for (; count > 0; --count) e = int_not(e);
    return e;
  }

  [[nodiscard]] bool at_comparison() const {
    return token_ == "==" || token_ == "!=" || token_ == "<" || token_ == "<=" || token_ == ">" ||
           token_ == ">=";
  }

  Result<IntExpr> parse_comparison() {
    HONE_TRY(IntExpr left, parse_sum());
    if (!at_comparison()) return left;
    const IntOp op = token_ == "=="   ? IntOp::kEq
                     : token_ == "!=" ? IntOp::kNe
                     : token_ == "<"  ? IntOp::kLt
                     : token_ == "<=" ? IntOp::kLe
                     : token_ == ">"  ? IntOp::kGt
                                      : IntOp::kGe;
    advance();
    HONE_TRY(const IntExpr right, parse_sum());
    if (at_comparison()) return error("comparisons do not chain", "write 'a < b and b < c'");
    return int_compare(op, left, right);
  }

  Result<IntExpr> parse_sum() {
    HONE_TRY(IntExpr left, parse_product());
    while (token_ == "+" || token_ == "-") {
      const bool plus = token_ == "+";
      advance();
      HONE_TRY(const IntExpr right, parse_product());
      left = plus ? left + right : left - right;
    }
    return left;
  }

  Result<IntExpr> parse_product() {
    HONE_TRY(IntExpr left, parse_unary());
    while (token_ == "*" || token_ == "//" || token_ == "%") {
      const char op = token_[0];
      advance();
      HONE_TRY(const IntExpr right, parse_unary());
      left = op == '*'   ? left * right
             : op == '/' ? IntExpr::floor_div(left, right)
                         : IntExpr::mod(left, right);
    }
    return left;
  }

  Result<IntExpr> parse_unary() {
    bool negative = false;
    while (take("-")) negative = !negative;
    HONE_TRY(IntExpr e, parse_atom());
    return negative ? IntExpr(-1) * e : e;
  }

  Result<IntExpr> parse_atom() {
    if (take("(")) {
      HONE_TRY(IntExpr e, parse_or());
      if (!take(")")) return expected("')'");
      return e;
    }
    if (token_.empty()) return expected("an integer, a name or '('");
    if (is_digit(token_[0])) return parse_integer();
    if (!is_name_start(token_[0]) || token_ == "and" || token_ == "or" || token_ == "not")
      return expected("an integer, a name or '('");
    const std::string_view name = token_;
    for (const KnownCall& call : kCalls)
      if (call.name == name) return parse_call(call);
    advance();
    if (token_ == "(") {
      token_ = name;
      return error(fmt::format("there is no function '{}'", name),
                   "functions: min, max, ceil_div, align, abs, select, next_power_of_2");
    }
    return IntExpr::symbol(std::string(name));
  }

  Result<IntExpr> parse_integer() {
    int64_t value = 0;
    for (const char c : token_) {
      if (!is_digit(c)) return error(fmt::format("'{}' is neither a number nor a name", token_));
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
        return error(fmt::format("{} does not fit 64 bits", token_));
    }
    advance();
    return IntExpr(value);
  }

  Result<IntExpr> parse_call(const KnownCall& call) {
    const std::string_view at = token_;
    advance();
    if (!take("(")) return expected(fmt::format("'(' after {}", call.name));
    std::vector<IntExpr> args;
    do {
      HONE_TRY(IntExpr arg, parse_or());
      args.push_back(std::move(arg));
    } while (take(","));
    if (!take(")")) return expected("',' or ')'");
    if (args.size() < call.least || args.size() > call.most) {
      token_ = at;
      return error(fmt::format("{} takes {} argument{}, found {}", call.name,
                               call.most > 3 ? "1 to 64" : std::to_string(call.least),
                               call.most == 1 ? "" : "s", args.size()));
    }
    if (call.name == "min") return int_extreme(IntOp::kMin, std::move(args));
    if (call.name == "max") return int_extreme(IntOp::kMax, std::move(args));
    if (call.name == "ceil_div") return IntExpr::ceil_div(args[0], args[1]);
    if (call.name == "align") return IntExpr::ceil_div(args[0], args[1]) * args[1];
    if (call.name == "abs") return int_abs(args[0]);
    if (call.name == "next_power_of_2") return int_next_power_of_2(args[0]);
    return int_select(args[0], args[1], args[2]);
  }

  std::string_view text_;
  std::string_view token_{};
  int depth_ = 0;
};

}  // namespace

Result<IntExpr> IntExpr::parse(std::string_view text) { return IntExprParser(text).parse(); }

}  // namespace hone::task
