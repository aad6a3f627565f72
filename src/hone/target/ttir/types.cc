#include "hone/target/ttir/types.h"

#include <cmath>

namespace hone::target::ttir {
uint64_t encoded(float value, Elem elem) {
  const Format& f = format_of(elem);
  const auto bits = std::bit_cast<uint32_t>(value);
  const int width = bits_of(elem);
  const uint64_t sign = uint64_t{bits >> 31} << (width - 1), top = (uint64_t{1} << (width - 1 - f.mantissa)) - 1;  // largest exponent field
  const auto rest = [&](uint64_t fraction) { return sign | (top << f.mantissa) | fraction; };
  if (std::isnan(value)) return rest(f.infinite ? uint64_t{1} << (f.mantissa - 1) : (uint64_t{1} << f.mantissa) - 1);
  if (std::isinf(value)) return rest(f.infinite ? 0 : (uint64_t{1} << f.mantissa) - 1);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 127;
  // A number below the normal ones has no leading one, and 0 for an exponent.
  if (exponent < f.least) return sign | static_cast<uint64_t>(std::fabs(value) * std::bit_cast<float>(static_cast<uint32_t>(127 + f.mantissa - f.least) << 23));
  return sign | static_cast<uint64_t>(exponent - f.least + 1) << f.mantissa | ((bits & 0x7fffff) >> (23 - f.mantissa));
}

float decoded(uint64_t bits, Elem elem) {
  const Format& f = format_of(elem);
  const int width = bits_of(elem);
  const uint64_t top = (uint64_t{1} << (width - 1 - f.mantissa)) - 1, field = (bits >> f.mantissa) & top, rest = bits & ((uint64_t{1} << f.mantissa) - 1);
  const auto sign = static_cast<uint32_t>((bits >> (width - 1)) & 1) << 31;
  const auto of = [&](uint32_t magnitude) { return std::bit_cast<float>(sign | magnitude); };
  if (field == top && f.infinite) return rest ? of(0x7fc00000) : of(0x7f800000);
  if (field == top && rest == (uint64_t{1} << f.mantissa) - 1) return of(0x7fc00000);
  if (field == 0) return std::copysign(static_cast<float>(rest) * std::bit_cast<float>(static_cast<uint32_t>(127 + f.least - f.mantissa) << 23), of(0));
  return of(static_cast<uint32_t>(static_cast<int>(field) - 1 + f.least + 127) << 23 | static_cast<uint32_t>(rest) << (23 - f.mantissa));
}

}  // namespace hone::target::ttir
