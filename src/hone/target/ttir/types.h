// TTIR's types and the values that the interpreter computes with: a tensor is an array of lanes of 64 bits, a scalar has one.
// Plain data.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace hone::target::ttir {

enum class Elem : uint8_t { kI1, kI8, kI16, kI32, kI64, kF8E4, kF8E5, kF16, kBF16, kF32, kF64, kPointer, kDescriptor, kNone };

[[nodiscard]] inline bool is_int(Elem e) { return e <= Elem::kI64; }
[[nodiscard]] inline bool is_float(Elem e) { return e >= Elem::kF8E4 && e <= Elem::kF64; }
[[nodiscard]] inline int bits_of(Elem e) {
  constexpr int kBits[] = {1, 8, 16, 32, 64, 8, 8, 16, 16, 32, 64, 64, 64, 0};
  return kBits[static_cast<size_t>(e)];
}
/// In memory.
[[nodiscard]] inline int bytes_of(Elem e) { return e == Elem::kI1 ? 1 : bits_of(e) / 8; }

struct Type {
  Elem elem = Elem::kNone;
  Elem pointee = Elem::kNone;      ///< of a pointer, or of what a descriptor describes
  bool tensor = false;
  std::vector<int64_t> shape;      ///< of a tensor, or of a descriptor's block

  [[nodiscard]] int64_t lanes() const {
    int64_t all = 1;
    if (tensor)
      for (const int64_t extent : shape) all *= extent;
    return all;
  }
};

/// Why a lane is not to be used. A set of bits.
enum Bad : uint8_t {
  kMasked = 1,        ///< read where a mask was false, and no `other` said what then
  kUnwritten = 2,     ///< read from memory that nobody wrote
  kOverflow = 4,      ///< 32-bit integer arithmetic went over the edge: no address
};

/// Integers lie in their lane with their sign extended (i1: 0 or 1), f64 as its bits, smaller floats as the bits of the f32 of the
/// same value, pointers as addresses.
struct Value {
  Type type;
  std::vector<uint64_t> lanes;
  std::vector<uint8_t> bad;        ///< Bad of each lane; empty: all are good

  [[nodiscard]] int64_t integer(size_t lane) const { return static_cast<int64_t>(lanes[lane]); }
  [[nodiscard]] float f32(size_t lane) const { return std::bit_cast<float>(static_cast<uint32_t>(lanes[lane])); }
  [[nodiscard]] double number(size_t lane) const { return type.elem == Elem::kF64 ? std::bit_cast<double>(lanes[lane]) : static_cast<double>(f32(lane)); }
  [[nodiscard]] uint8_t bad_at(size_t lane) const { return bad.empty() ? 0 : bad[lane]; }
};
using ValuePtr = std::shared_ptr<const Value>;

[[nodiscard]] inline uint64_t lane_of(float value) { return std::bit_cast<uint32_t>(value); }
[[nodiscard]] inline uint64_t lane_of(double value) { return std::bit_cast<uint64_t>(value); }

/// Of a float.
struct Format {
  int mantissa, least;         ///< bits stored, exponent of the least normal number
  double largest;
  bool infinite;               ///< has infinities; else what is too large is NaN, and so is the topmost code
};

inline constexpr Format kF16Format{10, -14, 65504, true}, kBF16Format{7, -126, 0x1.fep127, true}, kF8E5Format{2, -14, 57344, true},
    kF8E4Format{3, -6, 448, false}, kF32Format{23, -126, 0x1.fffffep127, true};

constexpr const Format& format_of(Elem elem) {
  switch (elem) {
    case Elem::kF16: return kF16Format;
    case Elem::kBF16: return kBF16Format;
    case Elem::kF8E5: return kF8E5Format;
    case Elem::kF8E4: return kF8E4Format;
    default: return kF32Format;
  }
}

/// To the nearest that the type has, ties to even; the float of the same value.
[[nodiscard]] inline float rounded(double value, const Format& f) {
  const double magnitude = std::fabs(value);
  const auto beyond = [&] {
    return std::copysign(f.infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN(), static_cast<float>(value));
  };
  if (!(magnitude <= 2 * f.largest)) return std::isfinite(value) ? beyond() : static_cast<float>(value);
  // What is added leaves no bits below the last one that the type has.
  const int exponent = std::max(static_cast<int>((std::bit_cast<uint64_t>(magnitude) >> 52)) - 1023, f.least);
  const double shift = std::bit_cast<double>(static_cast<uint64_t>(exponent - f.mantissa + 52 + 1023) << 52);
  const double nearest = (magnitude + shift) - shift;
  if (nearest <= f.largest) return static_cast<float>(std::copysign(nearest, value));
  return beyond();
}
[[nodiscard]] inline float rounded(double value, Elem to) {
  return to == Elem::kF32 || to == Elem::kF64 ? static_cast<float>(value) : rounded(value, format_of(to));
}
[[nodiscard]] inline float rounded(float value, Elem to) { return to == Elem::kF32 ? value : rounded(static_cast<double>(value), to); }

/// Sign-extended to the type's width.
[[nodiscard]] inline int64_t wrapped(int64_t value, Elem elem) {
  switch (elem) {
    case Elem::kI1: return value & 1;
    case Elem::kI8: return static_cast<int8_t>(value);
    case Elem::kI16: return static_cast<int16_t>(value);
    case Elem::kI32: return static_cast<int32_t>(value);
    default: return value;
  }
}

/// Of types of 8 bits and f16: bits in memory of a float that the type has, and back.
[[nodiscard]] uint64_t encoded(float value, Elem elem);
[[nodiscard]] float decoded(uint64_t bits, Elem elem);

/// Between a lane and so many bits in memory.
[[nodiscard]] inline uint64_t from_memory(uint64_t bits, Elem elem) {
  if (elem == Elem::kI1) return bits & 1;
  if (is_int(elem)) return static_cast<uint64_t>(wrapped(static_cast<int64_t>(bits), elem));
  if (elem == Elem::kBF16) return bits << 16;
  if (elem == Elem::kF16 || elem == Elem::kF8E4 || elem == Elem::kF8E5) return lane_of(decoded(bits, elem));
  return bits;
}

[[nodiscard]] inline uint64_t to_memory(uint64_t lane, Elem elem) {
  if (elem == Elem::kBF16) return lane >> 16;
  if (elem == Elem::kF16 || elem == Elem::kF8E4 || elem == Elem::kF8E5) return encoded(std::bit_cast<float>(static_cast<uint32_t>(lane)), elem);
  return lane;
}

}  // namespace hone::target::ttir
