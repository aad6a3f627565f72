#include "hone/target/ttir/types.h"

#include <cmath>
#include <limits>

namespace hone::target::ttir {
namespace {

struct Format {
  int mantissa, least, most;   ///< bits stored, exponents of the least and the largest normal number
  bool infinite;               ///< has infinities; else what is too large is NaN, and so is the topmost code
};

Format format_of(Elem elem) {
  switch (elem) {
    case Elem::kF16: return {10, -14, 15, true};
    case Elem::kBF16: return {7, -126, 127, true};
    case Elem::kF8E5: return {2, -14, 15, true};
    case Elem::kF8E4: return {3, -6, 8, false};
    default: return {23, -126, 127, true};
  }
}

double largest(Elem elem, const Format& format) {
  const double steps = elem == Elem::kF8E4 ? 1.75 : 2 - std::ldexp(1.0, -format.mantissa);
  return std::ldexp(steps, format.most);
}

/// Bits in memory of a float that the type has.
uint64_t encode(float value, Elem elem) {
  const Format f = format_of(elem);
  const int width = bits_of(elem);
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (width - 1) : 0;
  const uint64_t top = (uint64_t{1} << (width - 1 - f.mantissa)) - 1;  // largest exponent field
  if (std::isnan(value)) return sign | (top << f.mantissa) | (f.infinite ? uint64_t{1} << (f.mantissa - 1) : (uint64_t{1} << f.mantissa) - 1);
  if (std::isinf(value)) return f.infinite ? sign | (top << f.mantissa) : sign | (top << f.mantissa) | ((uint64_t{1} << f.mantissa) - 1);
  if (value == 0) return sign;
  const double magnitude = std::fabs(static_cast<double>(value));
  const int exponent = std::max(std::ilogb(magnitude), f.least);
  const auto steps = static_cast<uint64_t>(std::ldexp(magnitude, f.mantissa - exponent));
  // A number below the normal ones has no leading one: its field of the exponent is 0.
  const uint64_t field = steps >> f.mantissa ? static_cast<uint64_t>(exponent - f.least + 1) : 0;
  return sign | (field << f.mantissa) | (steps & ((uint64_t{1} << f.mantissa) - 1));
}

float decode(uint64_t bits, Elem elem) {
  const Format f = format_of(elem);
  const int width = bits_of(elem);
  const bool negative = (bits >> (width - 1)) & 1;
  const uint64_t top = (uint64_t{1} << (width - 1 - f.mantissa)) - 1, field = (bits >> f.mantissa) & top, rest = bits & ((uint64_t{1} << f.mantissa) - 1);
  double value;
  if (field == top && f.infinite) value = rest ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (field == top && rest == (uint64_t{1} << f.mantissa) - 1) value = std::numeric_limits<double>::quiet_NaN();
  else if (field == 0) value = std::ldexp(static_cast<double>(rest), f.least - f.mantissa);
  else value = std::ldexp(static_cast<double>(rest | (uint64_t{1} << f.mantissa)), f.least - f.mantissa + static_cast<int>(field) - 1);
  return static_cast<float>(negative ? -value : value);
}

}  // namespace

float rounded(double value, Elem to) {
  if (to == Elem::kF32 || to == Elem::kF64) return static_cast<float>(value);
  if (value == 0 || std::isnan(value) || std::isinf(value)) return static_cast<float>(value);
  const Format f = format_of(to);
  const int exponent = std::max(std::ilogb(value), f.least);
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, f.mantissa - exponent)), exponent - f.mantissa);
  if (std::fabs(nearest) <= largest(to, f)) return static_cast<float>(nearest);
  const double infinity = f.infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return static_cast<float>(std::copysign(infinity, value));
}
float rounded(float value, Elem to) { return to == Elem::kF32 ? value : rounded(static_cast<double>(value), to); }

uint64_t from_memory(uint64_t bits, Elem elem) {
  if (elem == Elem::kI1) return bits & 1;
  if (is_int(elem)) return static_cast<uint64_t>(wrapped(static_cast<int64_t>(bits), elem));
  if (elem == Elem::kBF16) return bits << 16;
  if (elem == Elem::kF16 || elem == Elem::kF8E4 || elem == Elem::kF8E5) return lane_of(decode(bits, elem));
  return bits;
}

uint64_t to_memory(uint64_t lane, Elem elem) {
  if (elem == Elem::kBF16) return lane >> 16;
  if (elem == Elem::kF16 || elem == Elem::kF8E4 || elem == Elem::kF8E5) return encode(std::bit_cast<float>(static_cast<uint32_t>(lane)), elem);
  return lane;
}

int64_t wrapped(int64_t value, Elem elem) {
  switch (elem) {
    case Elem::kI1: return value & 1;
    case Elem::kI8: return static_cast<int8_t>(value);
    case Elem::kI16: return static_cast<int16_t>(value);
    case Elem::kI32: return static_cast<int32_t>(value);
    default: return value;
  }
}

}  // namespace hone::target::ttir
