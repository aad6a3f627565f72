// Functions of lanes: casts, one and two operands, libdevice's.
#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/target/ttir/math.h"
#include "hone/target/ttir/program.h"

namespace hone::target::ttir {
namespace {

bool is_fma(std::string_view symbol) { return symbol == "__nv_fmaf" || symbol == "__nv_fma" || symbol == "__nv_fmaf_rn" || symbol == "__nv_fma_rn"; }
/// The same bits as another type's.
bool is_bits(std::string_view symbol) { return symbol.find("_as_") != std::string_view::npos; }
/// "__nv_int2float_rn": an integer to the nearest float.
bool is_of_integer(std::string_view symbol) {
  return symbol.ends_with("_rn") && (symbol.find("2float") != std::string_view::npos || symbol.find("2double") != std::string_view::npos) && symbol.find("double2") == std::string_view::npos;
}
bool is_unsigned(std::string_view symbol) { return symbol.starts_with("__nv_u"); }

uint64_t of_integer(int64_t integer, bool from_unsigned, Elem source, Elem to) {
  const int64_t number = from_unsigned ? unsigned_part(integer, source) : source == Elem::kI1 ? -integer : integer;
  if (to == Elem::kF64) return lane_of(static_cast<double>(number));
  const bool large = from_unsigned && number < 0;
  return to == Elem::kF32 ? lane_of(large ? static_cast<float>(static_cast<uint64_t>(number)) : static_cast<float>(number)) : float_lane(static_cast<double>(number), to);
}

/// The instruction holds what does not fit to the nearest that does; NaN becomes 0.
uint64_t integer_of(double number, bool to_signed, Elem to) {
  const double value = std::trunc(number);
  const int bits = bits_of(to);
  const double least = to_signed ? -std::ldexp(1.0, bits - 1) : 0, most = std::ldexp(1.0, to_signed ? bits - 1 : bits);
  if (std::isnan(value)) return 0;
  if (value < least) return to_signed ? static_cast<uint64_t>(wrapped(int64_t{1} << (bits - 1), to)) : 0;
  if (value >= most) return static_cast<uint64_t>(to_signed ? static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : wrapped(-1, to));
  return static_cast<uint64_t>(to_signed ? static_cast<int64_t>(value) : wrapped(static_cast<int64_t>(static_cast<uint64_t>(value)), to));
}

float towards_zero(double value, Elem to) {
  const float nearest = rounded(value, to);
  if (std::fabs(static_cast<double>(nearest)) <= std::fabs(value) || !std::isfinite(nearest)) return nearest;
  unknown("rounding towards zero");
}

}  // namespace

std::string symbol_of(const Op& op) {
  const auto it = op.attributes.find("symbol");
  std::string symbol = it == op.attributes.end() ? "" : it->second;
  std::erase(symbol, '"');
  return symbol;
}

bool is_external(std::string_view symbol) {
  return function_of_one(symbol) || function_of_two(symbol) || function_of_integers(symbol) || function_of_mixed(symbol) || function_to_integer(symbol) || is_fma(symbol) || is_bits(symbol) ||
         is_of_integer(symbol);
}

void Program::cast(const Op& op) {
  const Value& from = operand(op, 0);
  Type type = last_type(op);
  // In a reduction's region a scalar stands for a slice.
  if (from.lanes.size() != static_cast<size_t>(type.lanes())) type.tensor = from.type.tensor, type.shape = from.type.shape;
  const Elem source = from.type.elem, to = type.elem;
  const auto rounding = op.attributes.find("rounding");
  const bool to_zero = op.name == "tt.fp_to_fp" && rounding != op.attributes.end() && rounding->second == "rtz";
  const auto with = [&](auto of) { return each(type, [&](size_t i) -> uint64_t { return of(from.lanes[i]); }); };
  const auto of_each = [&](auto of) { return with([&](uint64_t lane) { return static_cast<uint64_t>(of(static_cast<int64_t>(lane))); }); };
  const auto made = [&]() -> Value {
    switch (op.sub) {
      case kExtui: return of_each([&](int64_t integer) { return unsigned_part(integer, source); });
      case kExtsi: return of_each([&](int64_t integer) { return source == Elem::kI1 ? -integer : integer; });
      case kTrunci: return of_each([&](int64_t integer) { return wrapped(integer, to); });
      case kAddress: return with([](uint64_t lane) { return lane; });
      case kSitofp:
      case kUitofp: return of_each([&](int64_t integer) { return of_integer(integer, op.sub == kUitofp, source, to); });
      case kFptosi:
      case kFptoui: return each(type, [&](size_t i) { return integer_of(from.number(i), op.sub == kFptosi, to); });
      case kOfFloats:
        if (to_zero) return each(type, [&](size_t i) { return lane_of(towards_zero(from.number(i), to)); });
        if (source == Elem::kF64 || to == Elem::kF64) return each(type, [&](size_t i) { return float_lane(from.number(i), to); });
        if (to == Elem::kF32) return with([](uint64_t lane) { return lane; });
        return with([&format = format_of(to)](uint64_t lane) { return lane_of(rounded(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(lane))), format)); });
      default: break;
    }
    // Bits as they are.
    if (to == Elem::kPointer || source == Elem::kPointer) return with([](uint64_t lane) { return lane; });
    if (bits_of(to) != bits_of(source)) unknown(op.name + " between sizes");
    return with([&](uint64_t lane) { return from_memory(to_memory(lane, source), to); });
  };
  Value value = made();
  value.bad = from.bad;
  result(op, std::move(value));
}

void Program::function(const Op& op) {
  const Value& a = operand(op, 0);
  const Elem elem = a.type.elem;
  Value value;
  if (op.code == kOne) {
    const OfOne of = op.name == "tt.precise_sqrt" ? function_of_one("math.sqrt") : op.name == "arith.negf" ? nullptr : function_of_one(op.name);
    value = each(a.type, [&](size_t i) { return float_lane(of ? of(a.number(i)) : -a.number(i), elem); });
  } else if (op.code == kTwo) {
    const Value& b = operand(op, 1);
    const OfTwo of = function_of_two(op.name);
    value = each(shape_of(a, b, elem), [&](size_t i) { return float_lane(of(a.number(lane_in(a, i)), b.number(lane_in(b, i))), elem); });
  } else if (op.code == kFma) {
    const Value &b = operand(op, 1), &c = operand(op, 2);
    value = each(a.type, [&](size_t i) {
      const size_t ib = lane_in(b, i), ic = lane_in(c, i);
      if (elem == Elem::kF64) return lane_of(std::fma(a.number(i), b.number(ib), c.number(ic)));
      return lane_of(rounded(std::fma(a.f32(i), b.f32(ib), c.f32(ic)), elem));
    });
  } else if (op.code == kAbsInt) {
    value = each(a.type, [&](size_t i) { return static_cast<uint64_t>(wrapped(a.integer(i) < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(a.integer(i))) : a.integer(i), elem)); });
  } else {
    const Value &low = operand(op, 1), &high = operand(op, 2);
    const bool all = op.attributes.count("propagateNan") && op.attributes.at("propagateNan") == "all";
    value = each(a.type, [&](size_t i) {
      const double v = a.number(i);
      if (all && std::isnan(v)) return a.lanes[i];
      return float_lane(of_floats(kMinnumf, of_floats(kMaxnumf, v, low.number(lane_in(low, i))), high.number(lane_in(high, i))), elem);
    });
  }
  for (size_t i = 0; i < op.operands.size(); ++i) inherit(value, operand(op, i));
  result(op, std::move(value));
}

void Program::external(const Op& op) {
  const std::string symbol = symbol_of(op);
  const size_t count = op.operands.size();
  if (count < 1 || count > 3) unknown("libdevice's " + symbol + " of so many operands");
  const Value* given[3] = {};
  const Value* widest = nullptr;  // in a reduction's region a scalar stands for a slice
  for (size_t k = 0; k < 3; ++k) {
    given[k] = &operand(op, std::min(k, count - 1));
    if (!widest || given[k]->lanes.size() > widest->lanes.size()) widest = given[k];
  }
  const Elem elem = last_type(op).elem;
  Type type = widest->type;
  type.elem = elem;
  type.pointee = Elem::kNone;
  const auto number = [&](size_t k, size_t i) { return given[k]->number(lane_in(*given[k], i)); };
  const auto integer = [&](size_t k, size_t i) { return given[k]->integer(lane_in(*given[k], i)); };
  const bool integers = is_int(given[0]->type.elem);
  const auto made = [&]() -> Value {
    if (const OfIntegers of = integers ? function_of_integers(symbol) : nullptr)
      return each(type, [&](size_t i) { return static_cast<uint64_t>(wrapped(of(integer(0, i), integer(1, i), integer(2, i)), elem)); });
    if (integers && is_of_integer(symbol)) return each(type, [&](size_t i) { return of_integer(integer(0, i), is_unsigned(symbol), given[0]->type.elem, elem); });
    if (is_bits(symbol) && bits_of(elem) == bits_of(given[0]->type.elem)) return each(type, [&](size_t i) { return from_memory(to_memory(given[0]->lanes[lane_in(*given[0], i)], given[0]->type.elem), elem); });
    if (const OfMixed of = function_of_mixed(symbol); of && count == 2) {
      const size_t whole = integers ? 0 : 1;
      return each(type, [&](size_t i) { return float_lane(of(number(1 - whole, i), integer(whole, i)), elem); });
    }
    if (integers) unknown("libdevice's " + symbol + " of integers");
    if (const ToInteger of = function_to_integer(symbol)) return each(type, [&](size_t i) { return static_cast<uint64_t>(wrapped(of(number(0, i)), elem)); });
    if (is_fma(symbol))
      return each(type, [&](size_t i) {
        if (elem == Elem::kF64) return lane_of(std::fma(number(0, i), number(1, i), number(2, i)));
        return lane_of(std::fma(static_cast<float>(number(0, i)), static_cast<float>(number(1, i)), static_cast<float>(number(2, i))));
      });
    if (const OfOne of = count == 1 ? function_of_one(symbol) : nullptr) return each(type, [&](size_t i) { return float_lane(of(number(0, i)), elem); });
    if (const OfTwo of = count == 2 ? function_of_two(symbol) : nullptr) return each(type, [&](size_t i) { return float_lane(of(number(0, i), number(1, i)), elem); });
    unknown("libdevice's " + symbol);
  };
  Value value = made();
  for (size_t k = 0; k < count; ++k) inherit(value, *given[k]);
  result(op, std::move(value));
}

}  // namespace hone::target::ttir
