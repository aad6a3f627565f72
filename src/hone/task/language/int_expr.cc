#include "hone/task/language/int_expr.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "hone/task/language/int_expr_node.h"

namespace hone::task {
namespace {

using ExprNode = IntExpr::Node;
using Term = ExprNode::Term;

/// Products are expanded up to this many terms; beyond it a sum stays a factor.
constexpr size_t kMaxTerms = 256;
constexpr size_t kMaxSize = size_t{1} << 31;

bool has_sum_factor(const std::vector<Term>& terms) {
  for (const Term& term : terms)
    for (const ExprNode::Ptr& factor : term.factors)
      if (factor->op == IntOp::kSum) return true;
  return false;
}

std::strong_ordering compare_factors(const std::vector<ExprNode::Ptr>& a, const std::vector<ExprNode::Ptr>& b) {
  if (a.size() != b.size()) return b.size() <=> a.size();
  for (size_t i = 0; i < a.size(); ++i)
    if (const auto order = ExprNode::compare(*a[i], *b[i]); order != 0) return order;
  return std::strong_ordering::equal;
}

bool before(const Term& a, const Term& b) { return compare_factors(a.factors, b.factors) < 0; }

/// -2^63 has no positive text, so a product may not have it as its coefficient.
bool printable(const Term& term) {
  return term.factors.empty() || term.coefficient != std::numeric_limits<int64_t>::min();
}

/// Sorts and merges like terms; false where a coefficient overflows.
bool merge(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(), before);
  std::vector<Term> merged;
  for (Term& term : terms) {
    if (!merged.empty() && compare_factors(merged.back().factors, term.factors) == 0) {
      int64_t& sum = merged.back().coefficient;
      if (__builtin_add_overflow(sum, term.coefficient, &sum)) return false;
      if (sum == 0) merged.pop_back();
    } else if (term.coefficient != 0) {
      merged.push_back(std::move(term));
    }
  }
  terms = std::move(merged);
  // The least number of all has a text alone, but not behind a minus between terms.
  const auto least = [](const Term& term) { return term.coefficient == std::numeric_limits<int64_t>::min(); };
  return std::all_of(terms.begin(), terms.end(), printable) && (terms.size() < 2 || std::none_of(terms.begin(), terms.end(), least));
}

bool multiply(const std::vector<Term>& a, const std::vector<Term>& b, std::vector<Term>& product) {
  for (const Term& x : a)
    for (const Term& y : b) {
      Term term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) return false;
      std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(),
                 std::back_inserter(term.factors),
                 [](const auto& p, const auto& q) { return ExprNode::compare(*p, *q) < 0; });
      product.push_back(std::move(term));
    }
  return merge(product);
}

/// Splits a sum into c * quotient + rest with every coefficient of `rest` in [0, c).
void split_by(const IntExpr& a, int64_t c, IntExpr& quotient, IntExpr& rest) {
  std::vector<Term> high;
  std::vector<Term> low;
  for (const Term& term : ExprNode::terms_of(a)) {
    Term q = term;
    Term r = term;
    checked_floor_div(term.coefficient, c, q.coefficient);
    checked_mod(term.coefficient, c, r.coefficient);
    if (q.coefficient != 0) high.push_back(std::move(q));
    if (r.coefficient != 0) low.push_back(std::move(r));
  }
  quotient = ExprNode::from_terms(std::move(high));
  rest = ExprNode::from_terms(std::move(low));
}

int64_t constant_term(const IntExpr& a) {
  for (const Term& term : ExprNode::terms_of(a))
    if (term.factors.empty()) return term.coefficient;
  return 0;
}

}  // namespace

bool checked_floor_div(int64_t a, int64_t b, int64_t& quotient) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return false;
  quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return true;
}

bool checked_mod(int64_t a, int64_t b, int64_t& rest) {
  if (b == 0) return false;
  rest = b == -1 ? 0 : a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return true;
}

bool checked_ceil_div(int64_t a, int64_t b, int64_t& quotient) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return false;
  quotient = a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
  return true;
}

IntExpr ExprNode::make(IntOp op, std::vector<IntExpr> args) {
  auto node = std::make_shared<ExprNode>();
  node->op = op;
  for (const IntExpr& arg : args) node->size = std::min(node->size + arg.size(), kMaxSize);
  node->args = std::move(args);
  return wrap(std::move(node));
}

IntExpr ExprNode::from_terms(std::vector<Term> terms) {
  if (terms.empty()) return 0;
  if (terms.size() == 1) {
    if (terms[0].factors.empty()) return terms[0].coefficient;
    if (terms[0].coefficient == 1 && terms[0].factors.size() == 1) return wrap(terms[0].factors[0]);
  }
  auto node = std::make_shared<ExprNode>();
  node->op = IntOp::kSum;
  for (const Term& term : terms) {
    node->size = std::min(node->size + 1, kMaxSize);
    for (const Ptr& factor : term.factors) node->size = std::min(node->size + factor->size, kMaxSize);
  }
  node->terms = std::move(terms);
  return wrap(std::move(node));
}

std::vector<Term> ExprNode::terms_of(const IntExpr& e) {
  const ExprNode& node = of(e);
  if (node.op == IntOp::kSum) return node.terms;
  if (node.op != IntOp::kConstant) return {Term{1, {pointer(e)}}};
  if (node.value == 0) return {};
  return {Term{node.value, {}}};
}

std::strong_ordering ExprNode::compare(const ExprNode& a, const ExprNode& b) {
  if (&a == &b) return std::strong_ordering::equal;
  if (a.op != b.op) return a.op <=> b.op;
  if (a.op == IntOp::kConstant) return a.value <=> b.value;
  if (a.op == IntOp::kSymbol) return a.name <=> b.name;
  for (size_t i = 0; i < std::min(a.terms.size(), b.terms.size()); ++i) {
    if (const auto order = compare_factors(a.terms[i].factors, b.terms[i].factors); order != 0) return order;
    if (const auto order = a.terms[i].coefficient <=> b.terms[i].coefficient; order != 0) return order;
  }
  if (a.terms.size() != b.terms.size()) return a.terms.size() <=> b.terms.size();
  if (a.args.size() != b.args.size()) return a.args.size() <=> b.args.size();
  for (size_t i = 0; i < a.args.size(); ++i)
    if (const auto order = compare(of(a.args[i]), of(b.args[i])); order != 0) return order;
  return std::strong_ordering::equal;
}

IntExpr::IntExpr(int64_t value) {
  auto node = std::make_shared<ExprNode>();
  node->value = value;
  node_ = std::move(node);
}

IntExpr IntExpr::symbol(std::string name) {
  auto node = std::make_shared<ExprNode>();
  node->op = IntOp::kSymbol;
  node->name = std::move(name);
  return IntExpr(std::move(node));
}

size_t IntExpr::size() const { return node_->size; }

bool IntExpr::is_constant() const { return node_->op == IntOp::kConstant; }

int64_t IntExpr::constant() const {
  HONE_CHECK(is_constant(), to_string());
  return node_->value;
}

bool operator==(const IntExpr& a, const IntExpr& b) { return ExprNode::compare(*a.node_, *b.node_) == 0; }

IntExpr operator+(const IntExpr& a, const IntExpr& b) {
  std::vector<Term> terms = ExprNode::terms_of(a);
  for (Term& term : ExprNode::terms_of(b)) terms.push_back(std::move(term));
  if (!merge(terms)) return ExprNode::make(IntOp::kWideAdd, {a, b});
  return ExprNode::from_terms(std::move(terms));
}

IntExpr operator-(const IntExpr& a, const IntExpr& b) { return a + IntExpr(-1) * b; }

IntExpr operator*(const IntExpr& a, const IntExpr& b) {
  std::vector<Term> x = ExprNode::terms_of(a);
  std::vector<Term> y = ExprNode::terms_of(b);
  if (x.size() > 1 && y.size() > 1 && x.size() * y.size() > kMaxTerms) {
    x = {Term{1, {a.node_}}};
    y = {Term{1, {b.node_}}};
  } else if (has_sum_factor(x) || has_sum_factor(y)) {
    if (x.size() > 1) x = {Term{1, {a.node_}}};
    if (y.size() > 1) y = {Term{1, {b.node_}}};
  }
  std::vector<Term> product;
  if (!multiply(x, y, product)) return ExprNode::make(IntOp::kWideMul, {a, b});
  return ExprNode::from_terms(std::move(product));
}

IntExpr IntExpr::floor_div(const IntExpr& a, const IntExpr& b) {
  int64_t value = 0;
  if (a.is_constant() && b.is_constant() && checked_floor_div(a.constant(), b.constant(), value))
    return value;
  if (!b.is_constant() || b.constant() < 1) return ExprNode::make(IntOp::kFloorDiv, {a, b});
  const int64_t c = b.constant();
  IntExpr quotient;
  IntExpr rest;
  split_by(a, c, quotient, rest);
  if (rest.is_constant()) return quotient;  // 0 <= rest < c
  // (r + c - 1) // c is written ceil_div(r, c), so that both spellings compare equal.
  if (constant_term(rest) == c - 1) return quotient + ExprNode::make(IntOp::kCeilDiv, {rest - (c - 1), b});
  return quotient + ExprNode::make(IntOp::kFloorDiv, {rest, b});
}

IntExpr IntExpr::ceil_div(const IntExpr& a, const IntExpr& b) {
  int64_t value = 0;
  if (a.is_constant() && b.is_constant() && checked_ceil_div(a.constant(), b.constant(), value)) return value;
  if (b.is_constant() && b.constant() >= 1) return floor_div(a + (b - 1), b);
  return ExprNode::make(IntOp::kCeilDiv, {a, b});
}

IntExpr IntExpr::mod(const IntExpr& a, const IntExpr& b) {
  int64_t value = 0;
  if (a.is_constant() && b.is_constant() && checked_mod(a.constant(), b.constant(), value)) return value;
  if (!b.is_constant() || b.constant() < 1) return ExprNode::make(IntOp::kMod, {a, b});
  IntExpr quotient;
  IntExpr rest;
  split_by(a, b.constant(), quotient, rest);
  if (rest.is_constant()) return rest;
  return ExprNode::make(IntOp::kMod, {rest, b});
}

IntExpr IntExpr::min(const IntExpr& a, const IntExpr& b) { return int_extreme(IntOp::kMin, {a, b}); }
IntExpr IntExpr::max(const IntExpr& a, const IntExpr& b) { return int_extreme(IntOp::kMax, {a, b}); }

IntExpr int_extreme(IntOp op, std::vector<IntExpr> args) {
  std::vector<IntExpr> flat;
  std::optional<int64_t> bound;
  const auto take = [&](const IntExpr& e) {
    if (!e.is_constant()) {
      flat.push_back(e);
    } else if (!bound) {
      bound = e.constant();
    } else {
      bound = op == IntOp::kMin ? std::min(*bound, e.constant()) : std::max(*bound, e.constant());
    }
  };
  for (const IntExpr& arg : args) {
    if (ExprNode::of(arg).op == op) {
      for (const IntExpr& inner : ExprNode::of(arg).args) take(inner);
    } else {
      take(arg);
    }
  }
  std::sort(flat.begin(), flat.end(),
            [](const IntExpr& a, const IntExpr& b) { return ExprNode::compare(ExprNode::of(a), ExprNode::of(b)) < 0; });
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (bound) flat.emplace_back(*bound);
  return flat.size() == 1 ? flat[0] : ExprNode::make(op, std::move(flat));
}

IntExpr int_abs(const IntExpr& a) {
  if (a.is_constant() && a.constant() != std::numeric_limits<int64_t>::min()) return std::abs(a.constant());
  return ExprNode::make(IntOp::kAbs, {a});
}

bool checked_next_power_of_2(int64_t a, int64_t& power) {
  if (a > int64_t{1} << 62) return false;
  power = a < 1 ? 1 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(a)));
  return true;
}

IntExpr int_next_power_of_2(const IntExpr& a) {
  int64_t power = 0;
  if (a.is_constant() && checked_next_power_of_2(a.constant(), power)) return power;
  return ExprNode::make(IntOp::kNextPower2, {a});
}

IntExpr int_select(const IntExpr& condition, const IntExpr& a, const IntExpr& b) {
  if (condition.is_constant()) return condition.constant() != 0 ? a : b;
  return a == b ? a : ExprNode::make(IntOp::kSelect, {condition, a, b});
}

IntExpr int_not(const IntExpr& a) {
  if (a.is_constant()) return a.constant() == 0 ? 1 : 0;
  return ExprNode::make(IntOp::kNot, {a});
}

IntExpr int_and(const IntExpr& a, const IntExpr& b) {
  if (a.is_constant()) return a.constant() == 0 ? IntExpr(0) : int_compare(IntOp::kNe, b, 0);
  return ExprNode::make(IntOp::kAnd, {a, b});
}

IntExpr int_or(const IntExpr& a, const IntExpr& b) {
  if (a.is_constant()) return a.constant() != 0 ? IntExpr(1) : int_compare(IntOp::kNe, b, 0);
  return ExprNode::make(IntOp::kOr, {a, b});
}

IntExpr int_compare(IntOp op, const IntExpr& a, const IntExpr& b) {
  if (const IntExpr difference = a - b; difference.is_constant()) {
    const int64_t d = difference.constant();
    switch (op) {
      case IntOp::kEq:
        return d == 0;
      case IntOp::kNe:
        return d != 0;
      case IntOp::kLt:
        return d < 0;
      case IntOp::kLe:
        return d <= 0;
      case IntOp::kGt:
        return d > 0;
      default:
        return d >= 0;
    }
  }
  const bool is_truth = ExprNode::of(a).op >= IntOp::kEq && ExprNode::of(a).op <= IntOp::kNot;
  if (op == IntOp::kNe && b == IntExpr(0) && is_truth) return a;
  // One spelling each: a constant on the right; otherwise < and <= only, and sorted == and !=.
  const bool symmetric = op == IntOp::kEq || op == IntOp::kNe;
  bool swap = a.is_constant();
  if (!a.is_constant() && !b.is_constant())
    swap = symmetric ? ExprNode::compare(ExprNode::of(b), ExprNode::of(a)) < 0 : op == IntOp::kGt || op == IntOp::kGe;
  if (!swap) return ExprNode::make(op, {a, b});
  switch (op) {
    case IntOp::kLt:
      op = IntOp::kGt;
      break;
    case IntOp::kLe:
      op = IntOp::kGe;
      break;
    case IntOp::kGt:
      op = IntOp::kLt;
      break;
    case IntOp::kGe:
      op = IntOp::kLe;
      break;
    default:
      break;
  }
  return ExprNode::make(op, {b, a});
}

std::optional<IntExpr> IntExpr::divide_exactly(const IntExpr& a, const IntExpr& b) {
  const std::vector<Term> divisor = ExprNode::terms_of(b);
  if (divisor.size() != 1) {
    if (a == b) return IntExpr(1);
    return std::nullopt;
  }
  std::vector<Term> quotient;
  for (Term term : ExprNode::terms_of(a)) {
    if (divisor[0].coefficient < 1 || term.coefficient % divisor[0].coefficient != 0) return std::nullopt;
    term.coefficient /= divisor[0].coefficient;
    for (const ExprNode::Ptr& factor : divisor[0].factors) {
      const auto it = std::find_if(term.factors.begin(), term.factors.end(),
                                   [&](const auto& p) { return ExprNode::compare(*p, *factor) == 0; });
      if (it == term.factors.end()) return std::nullopt;
      term.factors.erase(it);
    }
    quotient.push_back(std::move(term));
  }
  if (!merge(quotient)) return std::nullopt;
  return ExprNode::from_terms(std::move(quotient));
}

bool IntExpr::never_equal(const IntExpr& a, const IntExpr& b) {
  bool positive = false;
  bool negative = false;
  for (const Term& term : ExprNode::terms_of(a - b)) {
    for (const ExprNode::Ptr& factor : term.factors)
      if (factor->op != IntOp::kSymbol) return false;
    (term.coefficient > 0 ? positive : negative) = true;
  }
  return positive != negative;
}

}  // namespace hone::task
