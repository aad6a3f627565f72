// Element types and symbol bindings: the vocabulary that every room above shares. Pure values.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::task {

enum class DType : uint8_t { kF64, kF32, kBF16, kF16, kI64, kI32, kI16, kI8, kBool };

/// Bytes of one element as it lies in memory (kBool: one byte, 0 or 1).
[[nodiscard]] int size_of(DType type);
/// "f32", "i64", "bool", …
[[nodiscard]] std::string_view name_of(DType type);
[[nodiscard]] std::optional<DType> dtype_from(std::string_view name);
[[nodiscard]] inline bool is_float(DType t) { return t <= DType::kF16; }
[[nodiscard]] inline bool is_int(DType t) { return t >= DType::kI64 && t <= DType::kI8; }
/// Unit roundoff (half the distance from 1 to the next value): 2^-53, 2^-24, 2^-8 (bf16), 2^-11
/// (f16); 0 for the others.
[[nodiscard]] double unit_roundoff(DType type);
/// Smallest positive normal number; 0 for the others.
[[nodiscard]] double smallest_normal(DType type);

/// Values of shape symbols in one workload: {"B": 4096, "D": 8192}.
using Bindings = std::map<std::string, int64_t, std::less<>>;
/// A concrete shape, outermost dimension first; tensors are dense and row-major unless said.
using Shape = std::vector<int64_t>;

[[nodiscard]] int64_t element_count(const Shape& shape);

}  // namespace hone::task
