#include "hone/search/tune/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "hone/search/tune/condition_program.h"

namespace hone::search::tune {

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  std::string text = fmt::format("{}", std::get<double>(value));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

namespace {

/// A value under evaluation. Whole numbers that leave 64 bits go on as real ones.
struct Scalar {
  enum class Kind : uint8_t { kWhole, kReal, kText } kind = Kind::kWhole;
  int64_t whole = 0;
  double real = 0;
  const std::string* text = nullptr;

  [[nodiscard]] bool is_text() const { return kind == Kind::kText; }
  [[nodiscard]] bool is_whole() const { return kind == Kind::kWhole; }
  [[nodiscard]] double number() const { return is_whole() ? static_cast<double>(whole) : real; }
  [[nodiscard]] bool truth() const { return is_text() ? !text->empty() : number() != 0; }
};
using Maybe = std::optional<Scalar>;

Scalar whole(int64_t value) { return {Scalar::Kind::kWhole, value, 0, nullptr}; }
Scalar real(double value) { return {Scalar::Kind::kReal, 0, value, nullptr}; }
Scalar scalar(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return {Scalar::Kind::kText, 0, 0, text};
  if (const auto* number = std::get_if<int64_t>(&value)) return whole(*number);
  return real(std::get<double>(value));
}

Maybe rounded(double value) {
  if (!(std::abs(value) < 9e18)) return std::nullopt;
  return whole(static_cast<int64_t>(value));
}

Maybe arithmetic(Op op, const Scalar& a, const Scalar& b) {
  if (a.is_text() || b.is_text()) return std::nullopt;
  const bool both_whole = a.is_whole() && b.is_whole();
  int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      if (both_whole && !__builtin_add_overflow(a.whole, b.whole, &result)) return whole(result);
      return real(a.number() + b.number());
    case Op::kSubtract:
      if (both_whole && !__builtin_sub_overflow(a.whole, b.whole, &result)) return whole(result);
      return real(a.number() - b.number());
    case Op::kMultiply:
      if (both_whole && !__builtin_mul_overflow(a.whole, b.whole, &result)) return whole(result);
      return real(a.number() * b.number());
    case Op::kDivide:
      if (b.number() == 0) return std::nullopt;
      return real(a.number() / b.number());
    case Op::kFloorDivide:
    case Op::kModulo: {
      if (b.number() == 0) return std::nullopt;
      if (both_whole && b.whole != -1) {
        const int64_t down = a.whole / b.whole - ((a.whole % b.whole != 0) && ((a.whole < 0) != (b.whole < 0)));
        return whole(op == Op::kFloorDivide ? down : a.whole - down * b.whole);
      }
      if (both_whole && op == Op::kModulo) return whole(0);
      const double down = std::floor(a.number() / b.number());
      return real(op == Op::kFloorDivide ? down : a.number() - down * b.number());
    }
    case Op::kPower: {
      const double power = std::pow(a.number(), b.number());
      if (!std::isfinite(power)) return std::nullopt;
      if (both_whole && b.whole >= 0 && std::abs(power) < 0x1p53) return rounded(power);
      return real(power);
    }
    default:
      return std::nullopt;
  }
}

std::optional<bool> related(Relation relation, const Scalar& a, const Scalar& b) {
  if (a.is_text() != b.is_text()) {
    if (relation == Relation::kEqual) return false;
    if (relation == Relation::kUnequal) return true;
    return std::nullopt;
  }
  int order = 0;
  if (a.is_text()) {
    order = a.text->compare(*b.text);
  } else if (a.is_whole() && b.is_whole()) {
    order = a.whole < b.whole ? -1 : a.whole > b.whole;
  } else {
    order = a.number() < b.number() ? -1 : a.number() > b.number();
  }
  switch (relation) {
    case Relation::kEqual: return order == 0;
    case Relation::kUnequal: return order != 0;
    case Relation::kLess: return order < 0;
    case Relation::kAtMost: return order <= 0;
    case Relation::kMore: return order > 0;
    default: return order >= 0;
  }
}

class Evaluation {
 public:
  Evaluation(const Condition::Program& program, std::span<const Value* const> values) : program_(program), values_(values) {}

  Maybe eval(int index) const {
    const auto& node = program_.nodes[static_cast<size_t>(index)];
    const auto child = [&](size_t i) { return eval(node.children[i]); };
    switch (node.op) {
      case Op::kLiteral: return scalar(node.literal);
      case Op::kName: return scalar(*values_[static_cast<size_t>(node.name)]);
      case Op::kOr:
      case Op::kAnd: {
        const Maybe left = child(0);
        if (!left || left->truth() == (node.op == Op::kOr)) return left;
        return child(1);
      }
      case Op::kNot: {
        const Maybe value = child(0);
        return value ? Maybe(whole(!value->truth())) : value;
      }
      case Op::kSelect: {
        const Maybe condition = child(0);
        return condition ? child(condition->truth() ? 1 : 2) : condition;
      }
      case Op::kChain: return chain(node);
      case Op::kList: return std::nullopt;
      case Op::kMin:
      case Op::kMax: {
        Maybe best = child(0);
        for (size_t i = 1; best && i < node.children.size(); ++i) {
          const Maybe next = child(i);
          const auto better = next ? related(node.op == Op::kMin ? Relation::kLess : Relation::kMore, *next, *best) : std::nullopt;
          if (!better) return std::nullopt;
          if (*better) best = next;
        }
        return best;
      }
      default: break;
    }
    const Maybe a = child(0);
    if (!a || a->is_text()) return std::nullopt;
    switch (node.op) {
      case Op::kNegate: return arithmetic(Op::kSubtract, whole(0), *a);
      case Op::kAbs: return a->number() < 0 ? arithmetic(Op::kSubtract, whole(0), *a) : a;
      case Op::kFloat: return real(a->number());
      case Op::kInt: return a->is_whole() ? a : rounded(std::trunc(a->real));
      case Op::kRound: return a->is_whole() ? a : rounded(std::nearbyint(a->real));
      case Op::kCeil: return a->is_whole() ? a : rounded(std::ceil(a->real));
      case Op::kFloor: return a->is_whole() ? a : rounded(std::floor(a->real));
      default: break;
    }
    const Maybe b = child(1);
    return b ? arithmetic(node.op, *a, *b) : b;
  }

 private:
  Maybe chain(const Condition::Program::Node& node) const {
    Maybe left = eval(node.children[0]);
    for (size_t i = 0; i < node.relations.size(); ++i) {
      if (!left) return left;
      const Relation relation = node.relations[i];
      std::optional<bool> holds;
      Maybe right;
      if (relation == Relation::kIn || relation == Relation::kNotIn) {
        const auto& list = program_.nodes[static_cast<size_t>(node.children[i + 1])];
        if (list.op != Op::kList) return std::nullopt;
        bool found = false;
        for (const int item : list.children) {
          const Maybe value = eval(item);
          if (!value) return std::nullopt;
          found |= related(Relation::kEqual, *left, *value).value_or(false);
        }
        holds = found == (relation == Relation::kIn);
      } else {
        right = eval(node.children[i + 1]);
        if (right) holds = related(relation, *left, *right);
      }
      if (!holds) return std::nullopt;
      if (!*holds) return whole(0);
      left = right;
    }
    return whole(1);
  }

  const Condition::Program& program_;
  std::span<const Value* const> values_;
};

}  // namespace

bool Condition::holds(std::span<const Value* const> values) const {
  const Maybe value = Evaluation(*program_, values).eval(program_->root);
  return value && value->truth();
}
std::optional<Value> Condition::value(std::span<const Value* const> values) const {
  if (program_->nodes[static_cast<size_t>(program_->root)].op == Op::kList) return std::nullopt;
  const Maybe value = Evaluation(*program_, values).eval(program_->root);
  if (!value) return std::nullopt;
  return value->is_text() ? Value(*value->text) : value->is_whole() ? Value(value->whole) : Value(value->real);
}
const std::set<int>& Condition::uses() const { return program_->uses; }
const std::string& Condition::text() const { return program_->text; }

}  // namespace hone::search::tune
