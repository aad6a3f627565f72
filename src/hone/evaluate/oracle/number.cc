#include "hone/evaluate/oracle/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "hone/base/result.h"

namespace hone::evaluate {
namespace {

using task::DType;

double from_f16(uint16_t bits) {
  const uint64_t sign = uint64_t{bits & 0x8000u} << 48;
  const uint64_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00)  // infinity or NaN, payload kept
    return std::bit_cast<double>(sign | 0x7FF0000000000000u | (magnitude & 0x3FF) << 42);
  if (magnitude < 0x400)  // subnormal
    return std::copysign(static_cast<double>(magnitude) * 0x1p-24, sign ? -1.0 : 1.0);
  return std::bit_cast<double>(sign | ((magnitude << 42) + (uint64_t{1023 - 15} << 52)));
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t to_f16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  const double magnitude = std::fabs(round_to(DType::kF16, value));
  if (std::isinf(magnitude)) return sign | 0x7C00;
  if (magnitude < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(magnitude * 0x1p24));
  const uint64_t bits = std::bit_cast<uint64_t>(magnitude) - (uint64_t{1023 - 15} << 52);
  return static_cast<uint16_t>(sign | (bits >> 42));
}

uint16_t to_bf16(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xFFC0 : 0x7FC0;
  const auto narrow = static_cast<float>(round_to(DType::kBF16, value));  // exact
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(narrow) >> 16);
}

/// How a float of one byte is kept: 1 sign bit, exponent, mantissa. E4M3 has neither infinities nor, of the largest exponent,
/// more than one NaN; E5M2 has what IEEE formats have. Source: OFP8 1.0, table 1.
struct F8Format {
  int mantissa, bias;
  uint8_t infinity;  ///< from here on nothing is a number; the first of them is an infinity in E5M2
  bool has_infinity;
};
constexpr F8Format format_of(DType type) { return type == DType::kF8E4M3 ? F8Format{3, 7, 0x7F, false} : F8Format{2, 15, 0x7C, true}; }

double from_f8(const F8Format& f, uint8_t bits) {
  const int magnitude = bits & 0x7F, exponent = magnitude >> f.mantissa, rest = magnitude & ((1 << f.mantissa) - 1);
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  if (magnitude >= f.infinity) return std::copysign(f.has_infinity && magnitude == f.infinity ? HUGE_VAL : NAN, sign);
  if (exponent == 0) return std::copysign(std::ldexp(rest, 1 - f.bias - f.mantissa), sign);
  return std::copysign(std::ldexp((1 << f.mantissa) + rest, exponent - f.bias - f.mantissa), sign);
}

const std::array<double, 256>& f8_values(DType type) {
  const auto made = [](DType of) {
    std::array<double, 256> values{};
    for (size_t i = 0; i < values.size(); ++i) values[i] = from_f8(format_of(of), static_cast<uint8_t>(i));
    return values;
  };
  static const std::array<double, 256> e4m3 = made(DType::kF8E4M3), e5m2 = made(DType::kF8E5M2);
  return type == DType::kF8E4M3 ? e4m3 : e5m2;
}

uint8_t to_f8(DType type, double value) {
  const F8Format f = format_of(type);
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7F;
  const double magnitude = std::fabs(round_to(type, value)), normal = task::smallest_normal(type);
  if (magnitude < normal) return static_cast<uint8_t>(sign | static_cast<uint8_t>(std::ldexp(magnitude, f.bias - 1 + f.mantissa)));
  const uint64_t bits = std::bit_cast<uint64_t>(magnitude) - (static_cast<uint64_t>(1023 - f.bias) << 52);
  return static_cast<uint8_t>(sign | (bits >> (52 - f.mantissa)));
}

template <class Int>
Int to_int(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kLow = static_cast<double>(std::numeric_limits<Int>::min());
  if (value <= kLow) return std::numeric_limits<Int>::min();
  if (value >= -kLow) return std::numeric_limits<Int>::max();
  return static_cast<Int>(value);
}

template <class T>
void load(const void* data, int64_t first, int64_t count, double* out) {
  const T* from = static_cast<const T*>(data) + first;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(from[i]);
}

template <class T>
void store_ints(const double* values, int64_t count, void* data, int64_t first) {
  T* to = static_cast<T*>(data) + first;
  for (int64_t i = 0; i < count; ++i) to[i] = to_int<T>(values[i]);
}

}  // namespace

void load_doubles(DType type, const void* data, int64_t first, int64_t count, double* out) {
  switch (type) {
    case DType::kF64: return load<double>(data, first, count, out);
    case DType::kF32: return load<float>(data, first, count, out);
    case DType::kI64: return load<int64_t>(data, first, count, out);
    case DType::kI32: return load<int32_t>(data, first, count, out);
    case DType::kI16: return load<int16_t>(data, first, count, out);
    case DType::kI8: return load<int8_t>(data, first, count, out);
    case DType::kBool: {
      const auto* from = static_cast<const uint8_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) out[i] = from[i] != 0;
      return;
    }
    case DType::kBF16: {
      const auto* from = static_cast<const uint16_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) out[i] = from_bf16(from[i]);
      return;
    }
    case DType::kF16: {
      const auto* from = static_cast<const uint16_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) out[i] = from_f16(from[i]);
      return;
    }
    case DType::kF8E4M3:
    case DType::kF8E5M2: {
      const auto* from = static_cast<const uint8_t*>(data) + first;
      const auto& values = f8_values(type);
      for (int64_t i = 0; i < count; ++i) out[i] = values[from[i]];
      return;
    }
  }
}

void store_doubles(DType type, const double* values, int64_t count, void* data, int64_t first) {
  switch (type) {
    case DType::kF64:
      std::memcpy(static_cast<double*>(data) + first, values, static_cast<size_t>(count) * 8);
      return;
    case DType::kF32: {
      auto* to = static_cast<float*>(data) + first;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(values[i]);
      return;
    }
    case DType::kBF16: {
      auto* to = static_cast<uint16_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) to[i] = to_bf16(values[i]);
      return;
    }
    case DType::kF16: {
      auto* to = static_cast<uint16_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) to[i] = to_f16(values[i]);
      return;
    }
    case DType::kF8E4M3:
    case DType::kF8E5M2: {
      auto* to = static_cast<uint8_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) to[i] = to_f8(type, values[i]);
      return;
    }
    case DType::kI64: return store_ints<int64_t>(values, count, data, first);
    case DType::kI32: return store_ints<int32_t>(values, count, data, first);
    case DType::kI16: return store_ints<int16_t>(values, count, data, first);
    case DType::kI8: return store_ints<int8_t>(values, count, data, first);
    case DType::kBool: {
      auto* to = static_cast<uint8_t*>(data) + first;
      for (int64_t i = 0; i < count; ++i) to[i] = values[i] != 0;
      return;
    }
  }
}

double round_bits(double value, int significand_bits, int min_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  constexpr int kBias = 1023, kMantissa = 52;
  const auto power = [](int of) { return std::bit_cast<double>(static_cast<uint64_t>(of + kBias) << kMantissa); };
  // A subnormal double lies below any least exponent.
  const int exponent = std::max(static_cast<int>(std::bit_cast<uint64_t>(value) >> kMantissa & 0x7FF) - kBias, min_exponent), unit = exponent - (significand_bits - 1);
  // Beside so large a number whole ones are all that is left, rounded to even.
  constexpr double kWholeBeside = 0x1.8p52;
  return std::copysign((value * power(-unit) + kWholeBeside - kWholeBeside) * power(unit), value);
}

double round_near_end(DType type, double value) {
  constexpr double kBeyond = 1 + 2 * 0x1p-11;
  return type == DType::kF16 && std::isinf(round_to(type, value * kBeyond)) ? std::copysign(HUGE_VAL, value) : round_to(type, value);
}

double round_to(DType type, double value) {
  switch (type) {
    case DType::kF64: return value;
    case DType::kF32: return static_cast<float>(value);
    case DType::kBF16: {
      const double rounded = round_bits(value, 8, -126);
      return std::fabs(rounded) >= 0x1p128 ? std::copysign(HUGE_VAL, value) : rounded;
    }
    case DType::kF16: {
      const double rounded = round_bits(value, 11, -14);
      return std::fabs(rounded) >= 0x1p16 ? std::copysign(HUGE_VAL, value) : rounded;
    }
    case DType::kF8E4M3:
    case DType::kF8E5M2: {
      // A cast saturates, infinities too.
      const double held = std::isnan(value) ? value : std::clamp(value, -task::largest(type), task::largest(type));
      return round_bits(held, format_of(type).mantissa + 1, 1 - format_of(type).bias);
    }
    case DType::kI64: return static_cast<double>(to_int<int64_t>(value));
    case DType::kI32: return to_int<int32_t>(value);
    case DType::kI16: return to_int<int16_t>(value);
    case DType::kI8: return to_int<int8_t>(value);
    case DType::kBool: return value != 0;
  }
  return value;
}

}  // namespace hone::evaluate
