#include "hone/pattern/triton_text.h"

#include <cmath>

#include <fmt/format.h>

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

std::string lanes_storage(DType dtype) {
  switch (dtype) {
    case DType::kF64: return "tl.float64";
    case DType::kF32: return "tl.float32";
    case DType::kBF16: return "tl.bfloat16";
    case DType::kF16: return "tl.float16";
    case DType::kF8E4M3: return "tl.float8e4nv";
    case DType::kF8E5M2: return "tl.float8e5";
    case DType::kI64: return "tl.int64";
    case DType::kI32: return "tl.int32";
    case DType::kI16: return "tl.int16";
    case DType::kI8: return "tl.int8";
    case DType::kBool: return "tl.int1";
  }
  return {};
}

const char* lanes_zero(DType dtype) { return task::is_f8(dtype) ? "0.0" : "0"; }

std::string lanes_type(DType dtype) {
  return lanes_storage(task::is_narrow(dtype) ? DType::kF32 : dtype);
}

std::string lanes_constant(const task::Attr& value, DType dtype) {
  const double real = task::constant_value(value);
  const std::string type = lanes_type(dtype);
  if (dtype == DType::kBool) return fmt::format("(tl.full((1,), {}, tl.int32) != 0)", real != 0 ? 1 : 0);
  std::string text;
  if (!task::is_float(dtype)) {
    const auto* const whole = std::get_if<int64_t>(&value);
    text = fmt::format("{}", whole ? *whole : static_cast<int64_t>(real));
  } else if (std::isnan(real)) {
    text = "float(\"nan\")";
  } else if (std::isinf(real)) {
    text = real < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  } else {
    text = fits_32(dtype) ? fmt::format("{}", static_cast<double>(static_cast<float>(real))) : fmt::format("{}", real);
    if (fits_32(dtype) && std::isinf(static_cast<float>(real))) text = real < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  }
  return fmt::format("tl.full((1,), {}, {})", text, type);
}

std::string lanes_cast(const std::string& x, DType from, DType to, bool rounds) {
  if (from == to && !(rounds && lanes_storage(to) != lanes_type(to))) return x;
  if (to == DType::kBool) return fmt::format("({} != 0)", x);
  if (task::is_f8(to) && rounds)
    return fmt::format("saturated({}.to(tl.float32), {:.1f}).to({}).to(tl.float32)", x, task::largest(to), lanes_storage(to));
  if (task::is_float(to)) {
    if (rounds && lanes_storage(to) != lanes_type(to)) return fmt::format("{}.to({}).to(tl.float32)", x, lanes_storage(to));
    return lanes_type(from) == lanes_type(to) ? x : fmt::format("{}.to({})", x, lanes_type(to));
  }
  if (task::is_float(from)) {
    const int bits = 8 * task::size_of(to);
    const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
    return fmt::format("whole({}, {}, {}).to({})", x, -high - 1, high, lanes_type(to));
  }
  return fmt::format("{}.to({})", x, lanes_type(to));
}

std::string lanes_loaded(const std::string& x, DType kept, DType computed) {
  return lanes_storage(kept) == lanes_type(computed) ? x : fmt::format("{}.to({})", x, lanes_type(computed));
}

std::string lanes_operation(const task::Node& node, const std::vector<std::string>& x, const std::vector<DType>& types) {
  const DType type = types.empty() ? node.type.dtype : types.back();
  const Spelling& spelling = spelling_of(node.prim);
  switch (node.prim) {
    case Prim::kCast: return lanes_cast(x[0], types[0], node.type.dtype, true);
    case Prim::kNeg: return "-" + x[0];
    case Prim::kNot: return fmt::format("~{}", x[0]);
    case Prim::kIsNan: return fmt::format("{0} != {0}", x[0]);
    case Prim::kIsInf: return task::is_float(type) ? fmt::format("tl.abs({}) == float(\"inf\")", x[0]) : fmt::format("{0} != {0}", x[0]);
    default: break;
  }
  if (type == DType::kBool) {
    if (node.prim == Prim::kMaximum) return fmt::format("{} | {}", x[0], x[1]);
    if (node.prim == Prim::kMinimum) return fmt::format("{} & {}", x[0], x[1]);
    // Of one bit a comparison's sign is not that of the numbers 0 and 1.
    if (node.prim >= Prim::kEq && node.prim <= Prim::kGe) return fmt::format("{}.to(tl.int32) {} {}.to(tl.int32)", x[0], spelling.sign, x[1]);
  }
  if (task::is_int(type) && task::info_of(node.prim).is(task::PrimInfo::kToWhole)) return x[0];
  if (const char* const function = task::is_int(type) ? spelling.whole_triton : spelling.triton) return fmt::format("{}({})", function, fmt::join(x, ", "));
  HONE_CHECK(spelling.sign != nullptr, std::string(task::name_of(node.prim)));
  return fmt::format("{} {} {}", x[0], spelling.sign, x[1]);
}

std::string lanes_functions(const std::string& text) { return functions_of_file("patterns/triton/functions.py", text); }

}  // namespace hone::pattern
