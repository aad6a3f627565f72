#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "hone/task/language/limits.h"
#include "hone/task/language/syntax.h"

namespace hone::task {
namespace {

constexpr std::array<std::string_view, 27> kReserved{
    "and",    "or",   "not",    "for",   "if",   "else",   "in",       "def",   "return",
    "while",  "elif", "lambda", "is",    "as",   "import", "from",     "with",  "class",
    "assert", "try",  "except", "raise", "pass", "break",  "continue", "yield", "del"};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Sourced<std::vector<Statement>> run() {
    std::vector<Statement> program;
    while (true) {
      while (now().kind == TokenKind::kNewline) ++at_;
      if (now().kind == TokenKind::kEnd) return program;
      HONE_TRY(Statement statement, parse_statement());
      program.push_back(std::move(statement));
    }
  }

 private:
  [[nodiscard]] const Token& now() const { return tokens_[at_]; }
  [[nodiscard]] const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  [[nodiscard]] bool at(std::string_view text) const {
    return (now().kind == TokenKind::kPunctuation || now().kind == TokenKind::kName) && now().text == text;
  }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] tl::unexpected<SourceError> expected(std::string_view what, std::string hint = {}) const {
    return fail_at(now().where, fmt::format("expected {}, found {}", what, describe(now())), std::move(hint));
  }
  static Expr node(Expr::Kind kind, Where where, std::string text, std::vector<Expr> args) {
    Expr e;
    e.kind = kind;
    e.where = where;
    e.text = std::move(text);
    e.args = std::move(args);
    return raised(std::move(e));
  }
  static Expr raised(Expr e) {
    for (const Expr& arg : e.args) e.height = std::max(e.height, arg.height + 1);
    return e;
  }

  /// Whoever walks the tree recurses; a chain of operators grows it without any bracket.
  static Sourced<Expr> within_limits(Expr e) {
    if (e.height <= kMaxChain) return e;
    return fail_at(e.where, fmt::format("an expression of more than {} operations in a row", kMaxChain),
                   "give parts of it names: t = …");
  }

  [[nodiscard]] static tl::unexpected<SourceError> too_deep(Where where) {
    return fail_at(where, fmt::format("the expression is nested more than {} deep", kMaxNesting),
                   "give parts of it names: t = …");
  }

  Sourced<Statement> parse_statement() {
    Statement statement;
    do {
      if (now().kind != TokenKind::kName || is_reserved(now().text)) {
        const bool word = now().kind == TokenKind::kName;
        const bool goes_on = at_ > 0 && now().kind == TokenKind::kPunctuation && !at("=") && !at("(");
        return expected("a name to assign to",
                        word      ? "a computation is a list of `name = expression`; there is no control flow"
                        : goes_on ? "a statement goes on in the next line only inside brackets"
                                  : "every statement is `name = expression`");
      }
      statement.targets.push_back(now().text);
      statement.target_where.push_back(now().where);
      ++at_;
    } while (take(","));
    if (!take("=")) {
      return expected("'='", hint_for_target(statement.targets[0]));
    }
    HONE_TRY(statement.value, parse_expression());
    if (now().kind == TokenKind::kNewline) {
      ++at_;
    } else if (now().kind != TokenKind::kEnd) {
      return expected("an operator or the end of the statement", hint_after_expression());
    }
    return statement;
  }

  [[nodiscard]] std::string hint_for_target(const std::string& target) const {
    constexpr std::string_view kAugmented[] = {"+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"};
    const bool augmented = next().text == "=" && std::find(std::begin(kAugmented), std::end(kAugmented),
                                                           now().text) != std::end(kAugmented);
    if (augmented) return fmt::format("write `{0} = {0} {1} …`", target, now().text);
    if (at("[") || at(".")) return "tensors are never changed in place: give the result a name of its own";
    if (at("==")) return "a name is assigned with =";
    if (at(":"))
      return next().text == "=" ? "a name is assigned with =" : "types are not declared: they follow";
    return "every statement is `name = expression`";
  }

  [[nodiscard]] std::string hint_after_expression() const {
    if (at("is")) return "equality is written ==";
    if (now().kind == TokenKind::kName && is_reserved(now().text) && !at("if")) return "";
    if (at("if")) return "choose between values with where(condition, a, b)";
    if (at("=")) return "equality is written ==";
    if (at(",")) return "one value on the right: write a statement for each name";
    if (now().kind == TokenKind::kName || now().kind == TokenKind::kInteger) return "a product needs '*'";
    return "";
  }

  Sourced<Expr> parse_expression() {
    if (++depth_ > kMaxNesting) return too_deep(now().where);
    auto e = parse_or();
    --depth_;
    return e;
  }

  using Level = Sourced<Expr> (Parser::*)();

  Sourced<Expr> parse_left(Level operand, std::initializer_list<std::string_view> ops) {
    HONE_TRY(Expr left, (this->*operand)());
    while (std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return at(op); })) {
      const Token op = now();
      ++at_;
      HONE_TRY(Expr right, (this->*operand)());
      std::vector<Expr> args;
      args.push_back(std::move(left));
      args.push_back(std::move(right));
      HONE_TRY(left, within_limits(node(Expr::Kind::kBinary, op.where, op.text, std::move(args))));
    }
    return left;
  }

  Sourced<Expr> parse_or() { return parse_left(&Parser::parse_and, {"or"}); }
  Sourced<Expr> parse_and() { return parse_left(&Parser::parse_not, {"and"}); }

  Sourced<Expr> parse_not() {
    if (!at("not")) return parse_comparison();
    return parse_prefix(&Parser::parse_not);
  }

  Sourced<Expr> parse_prefix(Level operand) {
    const Token op = now();
    if (++depth_ > kMaxNesting) return too_deep(op.where);
    ++at_;
    HONE_TRY(Expr value, (this->*operand)());
    --depth_;
    if (op.text == "+") return value;
    return within_limits(node(Expr::Kind::kUnary, op.where, op.text, {std::move(value)}));
  }

  [[nodiscard]] bool at_comparison() const {
    return at("==") || at("!=") || at("<") || at("<=") || at(">") || at(">=");
  }

  Sourced<Expr> parse_comparison() {
    HONE_TRY(Expr left, parse_bit_or());
    if (!at_comparison()) return left;
    const Token op = now();
    ++at_;
    HONE_TRY(Expr right, parse_bit_or());
    if (at_comparison()) return fail_at(now().where, "comparisons do not chain", "write (a < b) & (b < c)");
    return within_limits(node(Expr::Kind::kBinary, op.where, op.text, {std::move(left), std::move(right)}));
  }

  Sourced<Expr> parse_bit_or() { return parse_left(&Parser::parse_bit_xor, {"|"}); }
  Sourced<Expr> parse_bit_xor() { return parse_left(&Parser::parse_bit_and, {"^"}); }
  Sourced<Expr> parse_bit_and() { return parse_left(&Parser::parse_shift, {"&"}); }
  Sourced<Expr> parse_shift() { return parse_left(&Parser::parse_sum, {"<<", ">>"}); }
  Sourced<Expr> parse_sum() { return parse_left(&Parser::parse_product, {"+", "-"}); }
  Sourced<Expr> parse_product() { return parse_left(&Parser::parse_unary, {"*", "/", "//", "%", "@"}); }

  Sourced<Expr> parse_unary() {
    if (at("-") || at("+") || at("~")) return parse_prefix(&Parser::parse_unary);
    return parse_power();
  }

  Sourced<Expr> parse_power() {
    HONE_TRY(Expr base, parse_postfix());
    if (!at("**")) return base;
    const Token op = now();
    if (++depth_ > kMaxNesting) return too_deep(op.where);
    ++at_;
    HONE_TRY(Expr exponent, parse_unary());  // right-associative, and 2 ** -1 is allowed
    --depth_;
    return within_limits(
        node(Expr::Kind::kBinary, op.where, op.text, {std::move(base), std::move(exponent)}));
  }

  Sourced<Expr> parse_postfix() {
    HONE_TRY(Expr e, parse_atom());
    while (true) {
      if (at("(")) {
        if (e.kind != Expr::Kind::kName)
          return fail_at(now().where, "only a function can be called", "a product needs '*'");
        HONE_TRY(e, parse_call(e.text, e.where, std::nullopt));
      } else if (at("[")) {
        HONE_TRY(e, parse_subscript(std::move(e)));
      } else if (at(".")) {
        ++at_;
        if (now().kind != TokenKind::kName) return expected("a name after '.'");
        const Token name = now();
        ++at_;
        if (at("(")) {
          HONE_TRY(e, parse_call(name.text, name.where, std::move(e)));
        } else {
          HONE_TRY(e, within_limits(node(Expr::Kind::kAttribute, name.where, name.text, {std::move(e)})));
        }
      } else {
        return e;
      }
    }
  }

  Sourced<Expr> parse_call(std::string function, Where where, std::optional<Expr> self) {
    Expr call = node(Expr::Kind::kCall, where, std::move(function), {});
    if (self) {
      call.args.push_back(std::move(*self));
      call.names.emplace_back();
    }
    ++at_;
    while (!take(")")) {
      std::string keyword;
      if (now().kind == TokenKind::kName && next().text == "=" && next().kind == TokenKind::kPunctuation) {
        keyword = now().text;
        at_ += 2;
      } else if (!call.names.empty() && !call.names.back().empty()) {
        return fail_at(now().where, "a positional argument follows a keyword argument");
      }
      HONE_TRY(Expr arg, parse_expression());
      call.args.push_back(std::move(arg));
      call.names.push_back(std::move(keyword));
      if (!at(")") && !take(",")) return expected("',' or ')'", hint_after_expression());
    }
    return within_limits(raised(std::move(call)));
  }

  Sourced<Expr> parse_subscript(Expr value) {
    Expr e = node(Expr::Kind::kSubscript, now().where, "", {std::move(value)});
    ++at_;
    do {
      if (at("]") && e.args.size() > 1) break;
      HONE_TRY(Expr index, parse_index());
      e.args.push_back(std::move(index));
    } while (take(","));
    if (!take("]")) return expected("',' or ']'");
    return within_limits(raised(std::move(e)));
  }

  Sourced<Expr> parse_index() {
    const Where where = now().where;
    if (take("...")) return node(Expr::Kind::kEllipsis, where, "...", {});
    Expr slice = node(Expr::Kind::kSlice, where, "", std::vector<Expr>(3));
    size_t part = 0;
    bool colon = false;
    while (true) {
      if (!at(":") && !at(",") && !at("]")) {
        HONE_TRY(slice.args[part], parse_expression());
      }
      if (part == 2 || !take(":")) break;
      colon = true;
      ++part;
    }
    if (colon) return raised(std::move(slice));
    if (slice.args[0].kind == Expr::Kind::kAbsent) return expected("an index");
    return std::move(slice.args[0]);
  }

  Sourced<Expr> parse_atom() {
    const Token token = now();
    switch (token.kind) {
      case TokenKind::kInteger:
        ++at_;
        return node(Expr::Kind::kInteger, token.where, token.text, {});
      case TokenKind::kFloat:
        ++at_;
        return node(Expr::Kind::kFloat, token.where, token.text, {});
      case TokenKind::kString:
        ++at_;
        return node(Expr::Kind::kString, token.where, token.text, {});
      case TokenKind::kName:
        if (is_reserved(token.text)) return expected("a value");
        ++at_;
        return node(Expr::Kind::kName, token.where, token.text, {});
      default:
        break;
    }
    if (at("(") || at("[")) return parse_list(at("(") ? ")" : "]");
    if (token.kind == TokenKind::kNewline && at_ > 0)
      return expected("a value", "a statement goes on in the next line only inside brackets");
    const bool twice = at_ > 0 && (at("&") || at("|")) && tokens_[at_ - 1].text == token.text;
    return expected("a value", twice ? "conditions are joined by one & or |" : "");
  }

  Sourced<Expr> parse_list(std::string_view close) {
    Expr list = node(Expr::Kind::kList, now().where, "", {});
    ++at_;
    bool comma = false;
    while (!at(close)) {
      HONE_TRY(Expr item, parse_expression());
      list.args.push_back(std::move(item));
      if (at(close)) break;
      if (!take(",")) return expected(fmt::format("',' or '{}'", close), hint_after_expression());
      comma = true;
    }
    ++at_;
    if (close == ")" && !comma && list.args.size() == 1) return std::move(list.args[0]);
    return within_limits(raised(std::move(list)));
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

Sourced<std::vector<Statement>> parse_program(std::string_view text) {
  if (text.size() > kMaxComputeBytes)
    return fail_at({1, 1}, fmt::format("a computation of more than {} bytes", kMaxComputeBytes),
                   "split it into several tasks");
  HONE_TRY(std::vector<Token> tokens, tokenize(text));
  return Parser(std::move(tokens)).run();
}

}  // namespace hone::task
