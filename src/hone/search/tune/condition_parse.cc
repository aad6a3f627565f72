#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "hone/search/tune/condition_program.h"

namespace hone::search::tune {
namespace {

constexpr size_t kMostCharacters = 10000;
constexpr int kDeepest = 100;

using Node = Condition::Program::Node;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent. After the first mistake everything returns -1 and the message stands in error_.
class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string> names) : text_(text), names_(names) { program_.text = text; }

  Result<std::shared_ptr<const Condition::Program>> run() {
    if (text_.size() > kMostCharacters) return fail(ErrorCode::kInput, fmt::format("a condition of {} characters", text_.size()), "at most 10000 are taken");
    program_.root = select();
    skip_space();
    if (!error_ && at_ < text_.size()) wrong("an operator or the end was expected");
    if (error_) return tl::unexpected(*error_);
    return std::make_shared<const Condition::Program>(std::move(program_));
  }

 private:
  int wrong(std::string_view what) {
    if (!error_)
      error_ = Error{ErrorCode::kInput, fmt::format("condition \"{}\", column {}: {}", text_.substr(0, 200), at_ + 1, what)};
    return -1;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool take(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  std::string_view word() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || (end > at_ && is_digit(text_[end])))) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  int node(Op op, std::vector<int> children = {}) {
    if (error_ || std::find(children.begin(), children.end(), -1) != children.end()) return -1;
    Node made;
    made.op = op;
    made.children = std::move(children);
    program_.nodes.push_back(std::move(made));
    return static_cast<int>(program_.nodes.size()) - 1;
  }
  int literal(Value value) {
    const int made = node(Op::kLiteral);
    if (made >= 0) program_.nodes.back().literal = std::move(value);
    return made;
  }

  int select() {
    if (++depth_ > kDeepest) return wrong("nested too deeply");
    int value = either();
    if (!error_ && take_word("if")) {
      const int condition = either();
      if (!take_word("else")) return wrong("\"else\" was expected");
      const int other = select();
      value = node(Op::kSelect, {condition, value, other});
    }
    --depth_;
    return value;
  }
  int either() {
    int left = both();
    while (!error_ && take_word("or")) left = node(Op::kOr, {left, both()});
    return left;
  }
  int both() {
    int left = negation();
    while (!error_ && take_word("and")) left = node(Op::kAnd, {left, negation()});
    return left;
  }
  int negation() {
    if (!take_word("not")) return comparison();
    if (++depth_ > kDeepest) return wrong("nested too deeply");
    const int made = node(Op::kNot, {negation()});
    --depth_;
    return made;
  }
  std::optional<Relation> relation() {
    if (take("==")) return Relation::kEqual;
    if (take("!=")) return Relation::kUnequal;
    if (take("<=")) return Relation::kAtMost;
    if (take(">=")) return Relation::kAtLeast;
    if (take("<")) return Relation::kLess;
    if (take(">")) return Relation::kMore;
    if (take_word("in")) return Relation::kIn;
    const size_t before = at_;
    if (take_word("not")) {
      if (take_word("in")) return Relation::kNotIn;
      at_ = before;
    }
    return std::nullopt;
  }
  int comparison() {
    std::vector<int> operands{sum()};
    std::vector<Relation> relations;
    while (!error_) {
      const auto next = relation();
      if (!next) break;
      relations.push_back(*next);
      operands.push_back(sum());
    }
    if (relations.empty()) return operands.front();
    const int made = node(Op::kChain, std::move(operands));
    if (made >= 0) program_.nodes.back().relations = std::move(relations);
    return made;
  }
  int sum() {
    int left = product();
    while (!error_) {
      if (take("+")) left = node(Op::kAdd, {left, product()});
      else if (take("-")) left = node(Op::kSubtract, {left, product()});
      else break;
    }
    return left;
  }
  int product() {
    int left = sign();
    while (!error_) {
      if (take("//")) left = node(Op::kFloorDivide, {left, sign()});
      else if (take("*")) left = node(Op::kMultiply, {left, sign()});
      else if (take("/")) left = node(Op::kDivide, {left, sign()});
      else if (take("%")) left = node(Op::kModulo, {left, sign()});
      else break;
    }
    return left;
  }
  int sign() {
    if (++depth_ > kDeepest) return wrong("nested too deeply");
    const int made = take("-") ? node(Op::kNegate, {sign()}) : take("+") ? sign() : power();
    --depth_;
    return made;
  }
  int power() {
    const int base = atom();
    return !error_ && take("**") ? node(Op::kPower, {base, sign()}) : base;
  }

  std::vector<int> items(char end) {
    std::vector<int> all;
    while (!error_ && !take(std::string_view(&end, 1))) {
      if (!all.empty() && !take(",")) {
        wrong("\",\" or a closing bracket was expected");
        break;
      }
      if (!all.empty() && take(std::string_view(&end, 1))) break;
      all.push_back(select());
    }
    return all;
  }

  int atom() {
    skip_space();
    if (error_) return -1;
    if (at_ == text_.size()) return wrong("a value was expected, and the text ends");
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return number();
    if (c == '\'' || c == '"') {
      const size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) return wrong("a quotation that does not end");
      const std::string quoted(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return literal(quoted);
    }
    if (take("[")) return node(Op::kList, items(']'));
    if (take("(")) {
      auto inside = items(')');
      if (error_) return -1;
      const bool tuple = inside.size() != 1 || text_.substr(0, at_).ends_with(",)");
      return tuple ? node(Op::kList, std::move(inside)) : inside.front();
    }
    return name();
  }

  int number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    int64_t whole = 0;
    double real = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc() && as_whole.ec != std::errc()) return wrong("a number was expected");
    if (as_whole.ec == std::errc() && (as_whole.ptr >= as_real.ptr || as_real.ec != std::errc())) {
      at_ += static_cast<size_t>(as_whole.ptr - begin);
      return literal(whole);
    }
    at_ += static_cast<size_t>(as_real.ptr - begin);
    return literal(real);
  }

  int name() {
    const std::string_view found = word();
    if (found.empty()) return wrong("a value was expected");
    if (found == "True" || found == "False") {
      at_ += found.size();
      return literal(int64_t{found == "True"});
    }
    if (const auto known = std::find(names_.begin(), names_.end(), found); known != names_.end()) {
      at_ += found.size();
      const int made = node(Op::kName);
      if (made < 0) return made;
      program_.nodes.back().name = static_cast<int>(known - names_.begin());
      program_.uses.insert(program_.nodes.back().name);
      return made;
    }
    struct Call { std::string_view name; Op op; size_t least, most; };
    constexpr Call kCalls[] = {{"min", Op::kMin, 1, 64}, {"max", Op::kMax, 1, 64}, {"abs", Op::kAbs, 1, 1},
                               {"int", Op::kInt, 1, 1}, {"float", Op::kFloat, 1, 1}, {"round", Op::kRound, 1, 1},
                               {"ceil", Op::kCeil, 1, 1}, {"floor", Op::kFloor, 1, 1}};
    const std::string_view bare = found == "math" && text_.substr(at_).starts_with("math.") ? (at_ += 5, word()) : found;
    const auto call = std::find_if(std::begin(kCalls), std::end(kCalls), [&](const Call& known) { return known.name == bare; });
    if (call == std::end(kCalls)) return wrong(fmt::format("\"{}\" is no tunable of this space and no function", bare));
    at_ += bare.size();
    if (!take("(")) return wrong("\"(\" was expected");
    auto arguments = items(')');
    if (error_) return -1;
    if (arguments.size() < call->least || arguments.size() > call->most) return wrong(fmt::format("{}() with {} values", bare, arguments.size()));
    return node(call->op, std::move(arguments));
  }

  std::string_view text_;
  std::span<const std::string> names_;
  Condition::Program program_;
  std::optional<Error> error_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Condition> Condition::parse(std::string_view text, std::span<const std::string> names) {
  HONE_TRY(auto program, Parser(text, names).run());
  return Condition(std::move(program));
}

}  // namespace hone::search::tune
