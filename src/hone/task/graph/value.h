// What an expression can be while a graph is built: a tensor, or something known at build time.
#pragma once
#include <string>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::task {

struct Value {
  enum class Kind : uint8_t { kTensor, kInt, kReal, kBool, kText, kNone, kDType, kList };
  Kind kind = Kind::kNone;
  int node = -1;    ///< kTensor
  IntExpr integer;  ///< kInt: a number or an expression over shape symbols
  double real = 0;
  bool truth = false;
  DType dtype{};
  std::string text;
  std::vector<Value> items;  ///< kList: a list, a tuple, or several results

  static Value tensor(int id) {
    Value v;
    v.kind = Kind::kTensor;
    v.node = id;
    return v;
  }
  static Value of(IntExpr i) {
    Value v;
    v.kind = Kind::kInt;
    v.integer = std::move(i);
    return v;
  }
  static Value of_real(double r) {
    Value v;
    v.kind = Kind::kReal;
    v.real = r;
    return v;
  }
  static Value of_bool(bool b) {
    Value v;
    v.kind = Kind::kBool;
    v.truth = b;
    return v;
  }
  static Value of_text(std::string s) {
    Value v;
    v.kind = Kind::kText;
    v.text = std::move(s);
    return v;
  }
  static Value of_dtype(DType t) {
    Value v;
    v.kind = Kind::kDType;
    v.dtype = t;
    return v;
  }
  static Value list(std::vector<Value> items) {
    Value v;
    v.kind = Kind::kList;
    v.items = std::move(items);
    return v;
  }

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  /// A number whose value is known now.
  [[nodiscard]] bool is_number() const {
    return kind == Kind::kReal || (kind == Kind::kInt && integer.is_constant());
  }
  [[nodiscard]] double number() const {
    return kind == Kind::kReal ? real : static_cast<double>(integer.constant());
  }
};

}  // namespace hone::task
