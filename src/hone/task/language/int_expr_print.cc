// Text of an integer expression: hone's own grammar, C++ and Python.
#include <fmt/format.h>

#include <limits>

#include "hone/task/language/int_expr_node.h"
#include "hone/task/language/int_expr_python.h"

namespace hone::task {
namespace {

using ExprNode = IntExpr::Node;

/// How tightly a text binds, loosest first; an operand that binds less tightly gets parentheses.
enum Level : int {
  kLevelOr,
  kLevelAnd,
  kLevelNot,
  kLevelCompare,
  kLevelSum,
  kLevelProduct,
  kLevelUnary,
  kLevelAtom
};

struct Text {
  std::string text;
  Level level = kLevelAtom;
};

std::string_view symbol_of(IntOp op) {
  switch (op) {
    case IntOp::kEq:
      return "==";
    case IntOp::kNe:
      return "!=";
    case IntOp::kLt:
      return "<";
    case IntOp::kLe:
      return "<=";
    case IntOp::kGt:
      return ">";
    default:
      return ">=";
  }
}

enum class Dialect : uint8_t { kHone, kCpp, kPython };

class Printer {
 public:
  explicit Printer(Dialect dialect) : cpp_(dialect == Dialect::kCpp), python_(dialect == Dialect::kPython) {}

  Text print(const ExprNode& node) const {
    switch (node.op) {
      case IntOp::kConstant:
        return print_constant(node.value);
      case IntOp::kSymbol:
        return {node.name};
      case IntOp::kSum:
        return print_sum(node);
      case IntOp::kFloorDiv:
        return print_division(node, "//", "hone_floor_div");
      case IntOp::kMod:
        return print_division(node, "%", "hone_mod");
      case IntOp::kCeilDiv:
        return python_ ? python_ceil_div(node) : call(cpp_ ? "hone_ceil_div" : "ceil_div", node);
      case IntOp::kMin:
        return call_many("min", node);
      case IntOp::kMax:
        return call_many("max", node);
      case IntOp::kAbs:
        return call(cpp_ ? "hone_abs" : "abs", node);
      case IntOp::kNextPower2:
        if (python_) return {fmt::format("(1 << max({} - 1, 0).bit_length())", at(node.args[0], kLevelSum))};
        if (!cpp_) return call("next_power_of_2", node);
        return {fmt::format("(int64_t{{1}} << ({0} > 1 ? 64 - __builtin_clzll({0} - 1) : 0))", at(node.args[0], kLevelSum))};
      case IntOp::kSelect:
        return print_select(node);
      case IntOp::kAnd:
        return truth(infix(node, cpp_ ? " && " : " and ", kLevelAnd));
      case IntOp::kOr:
        return truth(infix(node, cpp_ ? " || " : " or ", kLevelOr));
      case IntOp::kNot:
        if (cpp_) return truth({"!" + at(node.args[0], kLevelUnary), kLevelUnary});
        return {"not " + at(node.args[0], kLevelCompare), kLevelNot};
      case IntOp::kWideAdd:
        return infix(node, " + ", kLevelSum);
      case IntOp::kWideMul:
        return infix(node, "*", kLevelProduct);
      default:
        return truth({fmt::format("{} {} {}", at(node.args[0], kLevelSum), symbol_of(node.op),
                                  at(node.args[1], kLevelSum)),
                      kLevelCompare});
    }
  }

 private:
  Text print_constant(int64_t value) const {
    if (value == std::numeric_limits<int64_t>::min())
      return {fmt::format("(-{} - 1)", std::numeric_limits<int64_t>::max())};
    return {fmt::format("{}", value), value < 0 ? kLevelUnary : kLevelAtom};
  }

  /// In C++ a comparison is an int or bool: widened so that sums of it stay 64 bits wide. Python's `and` and `or`
  /// give an operand, not a truth.
  Text truth(Text text) const {
    if (python_ && text.level < kLevelNot) return {"bool(" + text.text + ")"};
    return cpp_ ? Text{"int64_t(" + text.text + ")"} : text;
  }

  Text python_ceil_div(const ExprNode& node) const {
    return {fmt::format("-(-{} // {})", at(node.args[0], kLevelAtom), at(node.args[1], kLevelUnary)), kLevelUnary};
  }

  std::string at(const IntExpr& e, Level least) const {
    Text text = print(ExprNode::of(e));
    return text.level < least ? "(" + text.text + ")" : text.text;
  }

  /// Left-associative: the right operand must bind more tightly.
  Text infix(const ExprNode& node, std::string_view op, Level level) const {
    return {
        fmt::format("{}{}{}", at(node.args[0], level), op, at(node.args[1], static_cast<Level>(level + 1))),
        level};
  }

  Text call(std::string_view name, const ExprNode& node) const {
    std::string text(name);
    for (size_t i = 0; i < node.args.size(); ++i)
      text += (i == 0 ? "(" : ", ") + print(ExprNode::of(node.args[i])).text;
    return {text + ")"};
  }

  Text call_many(const std::string& name, const ExprNode& node) const {
    if (!cpp_) return call(name, node);
    std::string text = print(ExprNode::of(node.args[0])).text;
    for (size_t i = 1; i < node.args.size(); ++i)
      text = fmt::format("hone_{}({}, {})", name, text, print(ExprNode::of(node.args[i])).text);
    return {text};
  }

  Text print_division(const ExprNode& node, std::string_view op, std::string_view name) const {
    if (cpp_) return call(name, node);
    return {fmt::format("{} {} {}", at(node.args[0], kLevelProduct), op, at(node.args[1], kLevelUnary)),
            kLevelProduct};
  }

  Text print_select(const ExprNode& node) const {
    if (python_)
      return {fmt::format("({} if {} else {})", print(ExprNode::of(node.args[1])).text, print(ExprNode::of(node.args[0])).text,
                          print(ExprNode::of(node.args[2])).text)};
    if (!cpp_) return call("select", node);
    return {fmt::format("({} ? {} : {})", print(ExprNode::of(node.args[0])).text, at(node.args[1], kLevelOr),
                        at(node.args[2], kLevelOr))};
  }

  /// A term without its sign.
  Text print_term(const ExprNode::Term& term) const {
    const uint64_t size = term.coefficient < 0 ? 0 - static_cast<uint64_t>(term.coefficient)
                                               : static_cast<uint64_t>(term.coefficient);
    const bool alone = size == 1 && term.factors.size() == 1;
    if (alone) return print(*term.factors[0]);
    std::string text;
    if (size != 1 || term.factors.empty()) text = fmt::format("{}", size);
    for (const ExprNode::Ptr& factor : term.factors) {
      const Text inner = print(*factor);
      if (!text.empty()) text += cpp_ ? " * " : "*";
      text += inner.level < kLevelUnary ? "(" + inner.text + ")" : inner.text;
    }
    return {text, term.factors.empty() ? kLevelAtom : kLevelProduct};
  }

  Text print_sum(const ExprNode& node) const {
    // A leading minus is avoided where some term is positive: "1 - D".
    size_t first = 0;
    while (first < node.terms.size() && node.terms[first].coefficient < 0) ++first;
    if (first == node.terms.size()) first = 0;
    const ExprNode::Term& lead = node.terms[first];
    Text text = print_term(lead);
    const Level needed = lead.coefficient < 0 ? kLevelUnary : kLevelProduct;
    const bool product = text.level == kLevelProduct && lead.factors.size() + (lead.coefficient != -1) > 1;
    if (text.level < needed && !product) text.text = "(" + text.text + ")";
    if (lead.coefficient < 0) text.text = "-" + text.text;
    if (node.terms.size() == 1) return {text.text, kLevelProduct};
    for (size_t i = 0; i < node.terms.size(); ++i) {
      if (i == first) continue;
      const Text next = print_term(node.terms[i]);
      text.text += node.terms[i].coefficient < 0 ? " - " : " + ";
      text.text += next.level < kLevelProduct ? "(" + next.text + ")" : next.text;
    }
    return {text.text, kLevelSum};
  }

  bool cpp_, python_;
};

}  // namespace

std::string IntExpr::to_string() const { return Printer(Dialect::kHone).print(*node_).text; }
std::string IntExpr::to_cpp() const { return Printer(Dialect::kCpp).print(*node_).text; }
std::string to_python(const IntExpr& expression) { return Printer(Dialect::kPython).print(IntExpr::Node::of(expression)).text; }

}  // namespace hone::task
