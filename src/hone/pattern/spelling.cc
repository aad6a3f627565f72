#include "hone/pattern/spelling.h"

#include <iterator>

namespace hone::pattern {
namespace {

using task::Prim;

constexpr const char* kNone = nullptr;

/// prim, operator; functions of C++, Triton, TileLang; functions of integers of C++, Triton, TileLang. In the order of Prim.
constexpr Spelling kSpellings[] = {
    {Prim::kNeg},
    {Prim::kAbs, kNone, "abs", "tl.abs", "T.abs", kNone, "tl.abs", "T.abs"},
    {Prim::kSign, kNone, "sign", "sign", "sign", kNone, "sign", "sign"},
    {Prim::kExp, kNone, "exp", "libdevice.exp", "T.exp"},
    {Prim::kExp2, kNone, "exp2", "libdevice.exp2", "T.exp2"},
    {Prim::kExpm1, kNone, "expm1", "libdevice.expm1", "exp_less_one"},
    {Prim::kLog, kNone, "log", "libdevice.log", "T.log"},
    {Prim::kLog2, kNone, "log2", "libdevice.log2", "T.log2"},
    {Prim::kLog10, kNone, "log10", "libdevice.log10", "T.log10"},
    {Prim::kLog1p, kNone, "log1p", "libdevice.log1p", "T.log1p"},
    {Prim::kSqrt, kNone, "sqrt", "root", "T.sqrt"},
    {Prim::kRsqrt, kNone, "rsqrt", "inverse_root", "inverse_root"},
    {Prim::kReciprocal, kNone, "reciprocal", "reciprocal", "reciprocal"},
    {Prim::kSin, kNone, "sin", "libdevice.sin", "T.sin"},
    {Prim::kCos, kNone, "cos", "libdevice.cos", "T.cos"},
    {Prim::kTan, kNone, "tan", "libdevice.tan", "T.tan"},
    {Prim::kAsin, kNone, "asin", "libdevice.asin", "T.asin"},
    {Prim::kAcos, kNone, "acos", "libdevice.acos", "T.acos"},
    {Prim::kAtan, kNone, "atan", "libdevice.atan", "T.atan"},
    {Prim::kSinh, kNone, "sinh", "libdevice.sinh", "T.sinh"},
    {Prim::kCosh, kNone, "cosh", "libdevice.cosh", "T.cosh"},
    {Prim::kTanh, kNone, "tanh", "libdevice.tanh", "T.tanh"},
    {Prim::kErf, kNone, "erf", "libdevice.erf", "T.erf"},
    {Prim::kFloor, kNone, "floor", "tl.floor", "T.floor"},
    {Prim::kCeil, kNone, "ceil", "tl.ceil", "T.ceil"},
    {Prim::kRound, kNone, "round", "libdevice.rint", "T.nearbyint"},
    {Prim::kTrunc, kNone, "trunc", "libdevice.trunc", "T.trunc"},
    {Prim::kNot},
    {Prim::kIsNan, kNone, "is_nan"},
    {Prim::kIsInf, kNone, "is_inf"},
    {Prim::kCast},
    {Prim::kAdd, "+", kNone, kNone, kNone, "whole_add"},
    {Prim::kSub, "-", kNone, "difference", kNone, "whole_sub"},
    {Prim::kMul, "*", kNone, kNone, kNone, "whole_mul"},
    {Prim::kDiv, "/", kNone, "divide"},
    {Prim::kPow, kNone, "pow", "libdevice.pow", "T.pow", "whole_pow", "whole_power"},
    {Prim::kAtan2, kNone, "atan2", "libdevice.atan2", "T.atan2"},
    {Prim::kMod, kNone, kNone, "modulo", "modulo", "whole_mod", "whole_modulo", "whole_modulo"},
    {Prim::kFloorDiv, kNone, kNone, "floor_quotient", "floor_quotient", "whole_div", "whole_quotient", "whole_quotient"},
    {Prim::kMaximum, kNone, "max", "greater", "greater", kNone, "tl.maximum", "T.max"},
    {Prim::kMinimum, kNone, "min", "less", "less", kNone, "tl.minimum", "T.min"},
    {Prim::kEq, "=="},
    {Prim::kNe, "!="},
    {Prim::kLt, "<"},
    {Prim::kLe, "<="},
    {Prim::kGt, ">"},
    {Prim::kGe, ">="},
    {Prim::kAnd, "&"},
    {Prim::kOr, "|"},
    {Prim::kXor, "^"},
    {Prim::kBitAnd, "&"},
    {Prim::kBitOr, "|"},
    {Prim::kBitXor, "^"},
    {Prim::kWhere, kNone, "select", "tl.where", "T.if_then_else", kNone, "tl.where", "T.if_then_else"},
};

constexpr size_t place_of(Prim op) { return static_cast<size_t>(op) - static_cast<size_t>(Prim::kIota) - 1; }

/// A primitive without a row does not compile.
constexpr bool has_all_rows() {
  if (std::size(kSpellings) != place_of(Prim::kBroadcast)) return false;
  for (size_t i = 0; i < std::size(kSpellings); ++i)
    if (place_of(kSpellings[i].prim) != i) return false;
  return true;
}
static_assert(has_all_rows(), "one row for each element-wise primitive, in their order");

}  // namespace

const Spelling& spelling_of(Prim op) {
  HONE_CHECK(task::is_elementwise(op), std::string(task::name_of(op)));
  return kSpellings[place_of(op)];
}

}  // namespace hone::pattern
