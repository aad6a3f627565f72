// TTIR's types and the values that the interpreter computes with: a tensor is an array of lanes of 64 bits, a scalar has one.
// Plain data.
#pragma once
#include <bit>
#include <cstdint>
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

/// To the nearest that the type has, ties to even; the float of the same value.
[[nodiscard]] float rounded(float value, Elem to);
[[nodiscard]] float rounded(double value, Elem to);
/// Between a lane and so many bits in memory.
[[nodiscard]] uint64_t from_memory(uint64_t bits, Elem elem);
[[nodiscard]] uint64_t to_memory(uint64_t lane, Elem elem);
/// Sign-extended to the type's width.
[[nodiscard]] int64_t wrapped(int64_t value, Elem elem);

}  // namespace hone::target::ttir
