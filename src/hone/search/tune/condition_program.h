// The parsed form of a condition, between condition_parse.cc and condition.cc.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "hone/search/tune/condition.h"

namespace hone::search::tune {

enum class Op : uint8_t {
  kLiteral, kName, kOr, kAnd, kNot, kChain, kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower,
  kNegate, kSelect, kList, kMin, kMax, kAbs, kInt, kFloat, kRound, kCeil, kFloor,
};
enum class Relation : uint8_t { kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast, kIn, kNotIn };

struct Condition::Program {
  struct Node {
    Op op = Op::kLiteral;
    std::vector<int> children;          ///< indices into nodes
    std::vector<Relation> relations;    ///< kChain: one fewer than children
    Value literal = int64_t{0};
    int name = -1;
  };
  std::vector<Node> nodes;
  int root = -1;
  std::set<int> uses;
  std::string text;
};

}  // namespace hone::search::tune
