#include "hone/pattern/tilelang_text.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/functions_file.h"
#include "hone/pattern/narrow.h"
#include "hone/pattern/spelling.h"
#include "hone/task/graph/fold.h"
#include "hone/task/graph/prim_info.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Prim;

}  // namespace

std::string tile_storage(DType dtype) { return std::string(task::numpy_name_of(dtype)); }

std::string tile_type(DType dtype) { return tile_storage(task::is_narrow(dtype) ? DType::kF32 : dtype); }

std::string tile_constant(const task::Attr& value, DType dtype) {
  const double real = task::constant_value(value);
  std::string text;
  if (dtype == DType::kBool) {
    text = real != 0 ? "True" : "False";
  } else if (!task::is_float(dtype)) {
    const auto* const whole = std::get_if<int64_t>(&value);
    text = fmt::format("{}", whole ? *whole : static_cast<int64_t>(real));
  } else {
    const double kept = fits_32(dtype) ? static_cast<double>(static_cast<float>(real)) : real;
    text = std::isnan(kept) ? "float(\"nan\")" : std::isinf(kept) ? (kept < 0 ? "float(\"-inf\")" : "float(\"inf\")") : fmt::format("{}", kept);
  }
  // A number that T.cast takes is one of float32 on its way.
  const bool wide = dtype == DType::kF64 && std::isfinite(real) && std::abs(real) > std::numeric_limits<float>::max();
  return fmt::format("T.{}({})", wide ? "FloatImm" : "cast", wide ? fmt::format("\"float64\", {}", text) : fmt::format("{}, \"{}\"", text, tile_type(dtype)));
}

std::string tile_cast(const std::string& x, DType from, DType to, bool rounds) {
  const bool narrow = rounds && tile_storage(to) != tile_type(to);
  if (from == to && !narrow) return x;
  if (to == DType::kBool) return fmt::format("({0} != number(0, {0}))", x);
  if (!task::is_float(to) && task::is_float(from)) {
    const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * task::size_of(to)));
    return fmt::format("T.cast(whole({}, {}, {}), \"{}\")", x, -high - 1, high, tile_type(to));
  }
  const std::string inner = narrow ? fmt::format("T.cast({}, \"{}\")", x, tile_storage(to)) : x;
  return tile_type(from) == tile_type(to) && !narrow ? x : fmt::format("T.cast({}, \"{}\")", inner, tile_type(to));
}

Result<std::string> tile_operation(const task::Node& node, const std::vector<std::string>& x, const std::vector<DType>& types) {
  const DType type = types.empty() ? node.type.dtype : types.back();
  const Spelling& spelling = spelling_of(node.prim);
  switch (node.prim) {
    case Prim::kCast: return tile_cast(x[0], types[0], node.type.dtype, true);
    case Prim::kNeg: return "-" + x[0];
    // TileLang negates a comparison as if there were no NaN, and folds what a value compared with itself gives.
    case Prim::kNot: return fmt::format("T.cast({}, \"int32\") == 0", x[0]);
    case Prim::kEq:
    case Prim::kNe:
      if (!task::is_float(type) || x[0] != x[1]) break;
      return fmt::format("T.cast(T.isnan({}), \"int32\") {} 0", x[0], node.prim == Prim::kNe ? "!=" : "==");
    case Prim::kIsNan: return task::is_float(type) ? fmt::format("T.isnan({})", x[0]) : std::string("T.cast(False, \"bool\")");
    case Prim::kIsInf: return task::is_float(type) ? fmt::format("T.isinf({})", x[0]) : std::string("T.cast(False, \"bool\")");
    case Prim::kAnd: return fmt::format("T.And({}, {})", x[0], x[1]);
    // T.Or of x <= y and y < x would be folded to true.
    case Prim::kOr: return fmt::format("{} | {}", x[0], x[1]);
    default: break;
  }
  if (type == DType::kBool) {
    if (node.prim == Prim::kMaximum) return fmt::format("{} | {}", x[0], x[1]);
    if (node.prim == Prim::kMinimum) return fmt::format("T.And({}, {})", x[0], x[1]);
    if (node.prim >= Prim::kEq && node.prim <= Prim::kGe)
      return fmt::format("T.cast({}, \"int32\") {} T.cast({}, \"int32\")", x[0], spelling.sign, x[1]);
  }
  if (task::is_int(type) && task::info_of(node.prim).is(task::PrimInfo::kToWhole)) return x[0];
  if (const char* const function = task::is_float(type) ? spelling.tilelang : spelling.whole_tilelang)
    return fmt::format("{}({})", function, fmt::join(x, ", "));
  if (!spelling.sign) return fail(ErrorCode::kUnavailable, fmt::format("{} of {}", task::name_of(node.prim), tile_storage(type)));
  return fmt::format("{} {} {}", x[0], spelling.sign, x[1]);
}

std::string tile_functions(const std::string& text) { return functions_of_file("patterns/tilelang/functions.py", text); }

}  // namespace hone::pattern
