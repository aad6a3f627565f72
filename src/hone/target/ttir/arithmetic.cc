// Arithmetic of tensors: constants, two operands, comparisons, choices.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "hone/target/ttir/program.h"

namespace hone::target::ttir {
namespace {

/// Lanes of tensors of one size, or one of them a scalar's.
void check_sizes(const Op& op, const Value& a, const Value& b) {
  if (a.lanes.size() != b.lanes.size() && a.lanes.size() != 1 && b.lanes.size() != 1) unknown(op.name + " of tensors of different sizes");
}

float as_f32(uint64_t lane) { return std::bit_cast<float>(static_cast<uint32_t>(lane)); }
double as_f64(uint64_t lane) { return std::bit_cast<double>(lane); }

/// What is computed in the type itself, or in double and then rounded, which is what one operation of f16 or bf16 gives.
template <typename Of>
Value float_pairs(const Type& type, const Value& a, const Value& b, Of of) {
  const auto wide = [](uint64_t lane) { return static_cast<double>(as_f32(lane)); };
  const Format& format = format_of(type.elem);
  switch (type.elem) {
    case Elem::kF32: return each_pair(type, a, b, [&](uint64_t x, uint64_t y) { return lane_of(of(as_f32(x), as_f32(y))); });
    case Elem::kF64: return each_pair(type, a, b, [&](uint64_t x, uint64_t y) { return lane_of(of(as_f64(x), as_f64(y))); });
    default: return each_pair(type, a, b, [&](uint64_t x, uint64_t y) { return lane_of(rounded(of(wide(x), wide(y)), format)); });
  }
}

Value floats(int sub, const Type& type, const Value& a, const Value& b) {
  switch (sub) {
    case kAddf: return float_pairs(type, a, b, [](auto x, auto y) { return x + y; });
    case kSubf: return float_pairs(type, a, b, [](auto x, auto y) { return x - y; });
    case kMulf: return float_pairs(type, a, b, [](auto x, auto y) { return x * y; });
    case kDivf: return float_pairs(type, a, b, [](auto x, auto y) { return x / y; });
    default: return float_pairs(type, a, b, [sub](auto x, auto y) { return static_cast<decltype(x)>(of_floats(sub, x, y)); });
  }
}

/// Sums of 32 bits that go over the edge are marked: they are no addresses.
template <typename Of>
Value integer_pairs(int sub, const Type& type, const Value& a, const Value& b, Of of) {
  if (type.elem == Elem::kI64) return each_pair(type, a, b, of);
  uint64_t over = 0;
  Value value = each_pair(type, a, b, [&](uint64_t x, uint64_t y) {
    const uint64_t exact = of(x, y), kept = static_cast<uint64_t>(int64_t{static_cast<int32_t>(exact)});
    over |= exact ^ kept;
    return kept;
  });
  if (over == 0) return value;
  value.bad.assign(value.lanes.size(), 0);
  for (size_t i = 0; i < value.lanes.size(); ++i)
    (void)of_integers(sub, a.integer(lane_in(a, i)), b.integer(lane_in(b, i)), type.elem, value.bad[i]);
  return value;
}

Value integers(int sub, const Type& type, const Value& a, const Value& b) {
  if (type.elem == Elem::kI32 || type.elem == Elem::kI64) switch (sub) {
      case kAddi: return integer_pairs(sub, type, a, b, [](uint64_t x, uint64_t y) { return x + y; });
      case kSubi: return integer_pairs(sub, type, a, b, [](uint64_t x, uint64_t y) { return x - y; });
      case kMuli: return integer_pairs(sub, type, a, b, [](uint64_t x, uint64_t y) { return x * y; });
      default: break;
    }
  switch (sub) {
    case kAndi: return each_pair(type, a, b, [](uint64_t x, uint64_t y) { return x & y; });
    case kOri: return each_pair(type, a, b, [](uint64_t x, uint64_t y) { return x | y; });
    case kXori: return each_pair(type, a, b, [](uint64_t x, uint64_t y) { return x ^ y; });
    default: break;
  }
  bool any = false;
  std::vector<uint8_t> over(static_cast<size_t>(type.lanes()), 0);
  Value value = each(type, [&](size_t i) {
    const uint64_t lane = of_integers(sub, a.integer(lane_in(a, i)), b.integer(lane_in(b, i)), type.elem, over[i]);
    any |= over[i] != 0;
    return lane;
  });
  if (any) value.bad = std::move(over);
  return value;
}

template <typename Lane, typename Get>
Value compared(int sub, const Type& type, const Value& a, const Value& b, Get get, Lane unordered) {
  const auto with = [&](auto holds) {
    return each_pair(type, a, b, [&](uint64_t x, uint64_t y) -> uint64_t { return unordered(get(x), get(y), holds(get(x), get(y))); });
  };
  switch (sub) {
    case kEq: return with([](auto x, auto y) { return x == y; });
    case kNe: return with([](auto x, auto y) { return x != y; });
    case kLt: case kUlt: return with([](auto x, auto y) { return x < y; });
    case kLe: case kUle: return with([](auto x, auto y) { return x <= y; });
    case kGt: case kUgt: return with([](auto x, auto y) { return x > y; });
    case kGe: case kUge: return with([](auto x, auto y) { return x >= y; });
    case kOrd: return with([](auto, auto) { return true; });
    default: return with([](auto, auto) { return false; });
  }
}

}  // namespace

Value constant_of(const Op& op) {
  if (op.types.empty()) unknown("a constant without a type");
  const Type& type = op.types.back();
  std::string text = op.literal;
  std::vector<std::string> items;
  if (!text.empty() && text.front() == '[') {
    std::string item;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ' ' || c == '\n') continue;
      if (c == ',') items.push_back(std::exchange(item, ""));
      else item += c;
    }
    items.push_back(item);
  } else {
    items.push_back(text);
  }
  const auto lane = [&](const std::string& item) -> uint64_t {
    if (item == "true") return 1;
    if (item == "false") return 0;
    if (!item.empty() && item.front() == '"') unknown("a constant written as bytes");
    if (is_float(type.elem)) {
      if (item.starts_with("0x")) {
        const uint64_t bits = std::strtoull(item.c_str(), nullptr, 16);
        return type.elem == Elem::kF64 || type.elem == Elem::kF32 ? bits : from_memory(bits, type.elem);
      }
      return float_lane(std::strtod(item.c_str(), nullptr), type.elem);
    }
    const bool hex = item.starts_with("0x");
    const int64_t value = item.starts_with("-") ? std::strtoll(item.c_str(), nullptr, 10) : static_cast<int64_t>(std::strtoull(item.c_str(), nullptr, hex ? 16 : 10));
    return static_cast<uint64_t>(wrapped(value, type.elem));
  };
  const auto lanes = static_cast<size_t>(type.lanes());
  if (items.size() != 1 && items.size() != lanes) unknown("a constant of this form");
  std::vector<uint64_t> parsed;
  for (const std::string& item : items) parsed.push_back(lane(item));
  return each(type, [&](size_t i) { return parsed[parsed.size() == 1 ? 0 : i]; });
}

uint64_t of_integers(int sub, int64_t a, int64_t b, Elem elem, uint8_t& bad) {
  const auto wide = [&](__int128 exact) {
    const int64_t kept = wrapped(static_cast<int64_t>(exact), elem);
    // Unsigned arithmetic goes round as it pleases: only what is used as an address is asked.
    if (elem == Elem::kI32 && static_cast<__int128>(kept) != exact) bad |= kOverflow;
    return static_cast<uint64_t>(kept);
  };
  const int bits = bits_of(elem);
  const auto ua = static_cast<uint64_t>(unsigned_part(a, elem)), ub = static_cast<uint64_t>(unsigned_part(b, elem));
  const auto back = [&](uint64_t value) { return static_cast<uint64_t>(wrapped(static_cast<int64_t>(value), elem)); };
  const bool divides = sub == kDivsi || sub == kDivui || sub == kRemsi || sub == kRemui || sub == kCeildivsi || sub == kFloordivsi;
  if (divides && b == 0) throw Stop{simt::Finding::kUndefined, "divides an integer by 0"};
  // The one quotient that does not fit.
  if (divides && b == -1 && sub != kDivui && sub != kRemui) return sub == kRemsi ? 0 : wide(-static_cast<__int128>(a));
  const bool beyond = ub >= static_cast<uint64_t>(bits);  // a shift by more than the width
  switch (sub) {
    case kAddi: return wide(static_cast<__int128>(a) + b);
    case kSubi: return wide(static_cast<__int128>(a) - b);
    case kMuli: return wide(static_cast<__int128>(a) * b);
    case kDivsi: return static_cast<uint64_t>(a / b);
    case kRemsi: return static_cast<uint64_t>(a % b);
    case kFloordivsi: return static_cast<uint64_t>(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));
    case kCeildivsi: return static_cast<uint64_t>(a / b + (a % b != 0 && (a % b < 0) == (b < 0)));
    case kDivui: return back(ua / ub);
    case kRemui: return back(ua % ub);
    case kAndi: return static_cast<uint64_t>(a & b);
    case kOri: return static_cast<uint64_t>(a | b);
    case kXori: return static_cast<uint64_t>(a ^ b);
    case kShli: return beyond ? 0 : back(ua << ub);
    case kShrsi: return static_cast<uint64_t>(beyond ? (a < 0 ? -1 : 0) : a >> ub);
    case kShrui: return beyond ? 0 : back(ua >> ub);
    case kMaxsi: return static_cast<uint64_t>(std::max(a, b));
    case kMinsi: return static_cast<uint64_t>(std::min(a, b));
    case kMaxui: return back(std::max(ua, ub));
    case kMinui: return back(std::min(ua, ub));
    case kMulhiui: return back(static_cast<uint64_t>((static_cast<unsigned __int128>(ua) * ub) >> bits));
    default: unknown("an operation of floats on integers");
  }
}

double of_floats(int sub, double a, double b) {
  const bool nan_here = std::isnan(a) || std::isnan(b);
  const auto larger = [](double x, double y) { return x > y || (x == y && !std::signbit(x)) ? x : y; };
  const auto smaller = [](double x, double y) { return x < y || (x == y && std::signbit(x)) ? x : y; };
  switch (sub) {
    case kAddf: return a + b;
    case kSubf: return a - b;
    case kMulf: return a * b;
    case kDivf: return a / b;
    case kRemf: return std::fmod(a, b);
    // max.f32 and max.NaN.f32: the first loses a NaN that stands beside a number.
    case kMaxnumf: return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b);
    case kMinnumf: return std::isnan(a) ? b : std::isnan(b) ? a : smaller(a, b);
    case kMaximumf: return nan_here ? std::numeric_limits<double>::quiet_NaN() : larger(a, b);
    case kMinimumf: return nan_here ? std::numeric_limits<double>::quiet_NaN() : smaller(a, b);
    default: unknown("an operation of integers on floats");
  }
}

void Program::binary(const Op& op) {
  const Value &a = operand(op, 0), &b = operand(op, 1);
  check_sizes(op, a, b);
  const Type type = shape_of(a, b, a.type.elem);
  if (type.elem == Elem::kPointer) unknown(op.name + " of pointers");
  Value value = is_float(type.elem) ? floats(op.sub, type, a, b) : integers(op.sub, type, a, b);
  inherit(value, a);
  inherit(value, b);
  // An overflow is no longer one where the low bits were all that was wanted.
  if (op.sub == kRemui || op.sub == kRemsi || op.sub == kAndi || op.sub == kXori || op.sub == kShrui)
    for (uint8_t& bad : value.bad) bad &= static_cast<uint8_t>(~kOverflow);
  // False and anything is false.
  if (type.elem == Elem::kI1 && (op.sub == kAndi || op.sub == kOri))
    for (size_t i = 0; i < value.bad.size(); ++i) {
      const uint64_t settles = op.sub == kOri;
      const size_t la = lane_in(a, i), lb = lane_in(b, i);
      if ((!a.bad_at(la) && a.lanes[la] == settles) || (!b.bad_at(lb) && b.lanes[lb] == settles)) value.bad[i] = 0, value.lanes[i] = settles;
    }
  result(op, std::move(value));
}

void Program::compare(const Op& op) {
  const Value &a = operand(op, 0), &b = operand(op, 1);
  check_sizes(op, a, b);
  const Type type = shape_of(a, b, Elem::kI1);
  Value value;
  if (op.code == kCompareFloat) {
    const bool if_unordered = op.words[0][0] == 'u';
    const auto ordered = [if_unordered](auto x, auto y, bool holds) { return std::isnan(x) || std::isnan(y) ? if_unordered : holds; };
    value = a.type.elem == Elem::kF64 ? compared(op.sub, type, a, b, as_f64, ordered)
                                      : compared(op.sub, type, a, b, as_f32, ordered);
  } else {
    const auto holds = [](auto, auto, bool that) { return that; };
    value = op.sub >= kUlt ? compared(op.sub, type, a, b, [](uint64_t lane) { return lane; }, holds)
                           : compared(op.sub, type, a, b, [](uint64_t lane) { return static_cast<int64_t>(lane); }, holds);
  }
  inherit(value, a, kMasked | kUnwritten);
  inherit(value, b, kMasked | kUnwritten);
  result(op, std::move(value));
}

void Program::select(const Op& op) {
  const Value &which = operand(op, 0), &yes = operand(op, 1), &no = operand(op, 2);
  check_sizes(op, which, yes);
  check_sizes(op, which, no);
  check_sizes(op, yes, no);
  Type type = which.lanes.size() > std::max(yes.lanes.size(), no.lanes.size()) ? which.type : yes.lanes.size() >= no.lanes.size() ? yes.type : no.type;
  type.elem = yes.type.elem;
  type.pointee = yes.type.pointee;
  Value value = each(type, [&](size_t i) { return which.lanes[lane_in(which, i)] ? yes.lanes[lane_in(yes, i)] : no.lanes[lane_in(no, i)]; });
  if (!which.bad.empty() || !yes.bad.empty() || !no.bad.empty()) {
    value.bad.resize(value.lanes.size());
    for (size_t i = 0; i < value.lanes.size(); ++i) {
      const size_t w = lane_in(which, i);
      const Value& from = which.lanes[w] ? yes : no;
      value.bad[i] = which.bad_at(w) | from.bad_at(lane_in(from, i));
    }
  }
  result(op, std::move(value));
}

/// How a comparison compares; kNone: in a way that is not known.
int comparison(const Op& op) {
  const std::string_view how = op.words.empty() ? std::string_view() : op.words[0];
  if (how == "eq") return kEq;
  if (how == "ne") return kNe;
  if (how == "ord") return kOrd;
  if (how == "uno") return kUno;
  if (how.size() != 3) return kNone;
  const bool is_unsigned = op.code == kCompareInt && how[0] == 'u';
  const std::string_view rest = how.substr(1);
  constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (int i = 0; i < 6; ++i)
    if (rest == kNames[i]) return is_unsigned ? kUlt + i - 2 : kEq + i;
  return kNone;
}

}  // namespace hone::target::ttir
