#include "hone/task/graph/prim_info.h"

#include <cmath>
#include <iterator>

namespace hone::task {
namespace {

double python_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

struct Rows : PrimInfo {  // for the columns' names
  static const PrimInfo kAll[];
};

#define HONE_VALUE(...) [](double x [[maybe_unused]], double y [[maybe_unused]]) -> double { return __VA_ARGS__; }
#define HONE_ELEMENTWISE(prim, name, operands, kind, roundings, facts, value) {name, operands, kind, roundings, facts, value},
const PrimInfo Rows::kAll[] = {
#include "hone/task/graph/elementwise.h"
};
#undef HONE_ELEMENTWISE
#undef HONE_VALUE

}  // namespace

const PrimInfo& info_of(Prim op) {
  static constexpr PrimInfo kNone;
  return is_elementwise(op) ? Rows::kAll[static_cast<size_t>(op) - static_cast<size_t>(Prim::kIota) - 1] : kNone;
}

}  // namespace hone::task
