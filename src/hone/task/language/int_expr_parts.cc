#include "hone/task/language/int_expr_parts.h"

#include <algorithm>

#include "hone/task/language/int_expr_node.h"

namespace hone::task {
namespace {

using ExprNode = IntExpr::Node;

template <class Visit>
void for_each_node(const ExprNode& node, Visit visit) {
  visit(node);
  for (const IntExpr& arg : node.args) for_each_node(ExprNode::of(arg), visit);
  for (const ExprNode::Term& term : node.terms)
    for (const ExprNode::Ptr& factor : term.factors) for_each_node(*factor, visit);
}

void add_sides(const IntExpr& a, const IntExpr& b, std::vector<IntExpr>& all) {
  for (const int64_t apart : {-1, 0, 1}) all.push_back(int_compare(IntOp::kEq, a, b + IntExpr(apart)));
  all.push_back(int_compare(IntOp::kLt, a, b));
}

}  // namespace

std::vector<IntExpr> distinctions(const IntExpr& expression) {
  std::vector<IntExpr> all;
  for_each_node(ExprNode::of(expression), [&](const ExprNode& node) {
    switch (node.op) {
      case IntOp::kEq: case IntOp::kNe: case IntOp::kLt: case IntOp::kLe: case IntOp::kGt: case IntOp::kGe:
        return add_sides(node.args[0], node.args[1], all);
      case IntOp::kMod: case IntOp::kFloorDiv: case IntOp::kCeilDiv:
        all.push_back(int_compare(IntOp::kEq, IntExpr::mod(node.args[0], node.args[1]), 0));
        return all.push_back(int_compare(IntOp::kLt, node.args[0], node.args[1]));
      case IntOp::kMin: case IntOp::kMax:
        // Equal is a side of its own: what ends at min(N, 128) blocks is right at 128.
        for (size_t i = 1; i < node.args.size(); ++i)
          for (const IntOp op : {IntOp::kLt, IntOp::kGt}) all.push_back(int_compare(op, node.args[0], node.args[i]));
        return;
      default: return;
    }
  });
  std::erase_if(all, [](const IntExpr& e) { return e.is_constant(); });
  return all;
}

std::set<int64_t> numbers_in(const IntExpr& expression) {
  std::set<int64_t> all;
  for_each_node(ExprNode::of(expression), [&](const ExprNode& node) {
    if (node.op == IntOp::kConstant) all.insert(node.value);
    for (const ExprNode::Term& term : node.terms) all.insert(term.coefficient);
  });
  return all;
}

}  // namespace hone::task
