// Element types and symbol bindings: the vocabulary that every room above shares. Pure values.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::task {

/// The floats of one byte are kept, not computed with: operations widen them to f32 (graph/infer.h). kF8E4M3 is OCP's E4M3 (PyTorch's
/// float8_e4m3fn: no infinity, one NaN, up to 448), kF8E5M2 its E5M2 (infinities, up to 57344).
/// Source: OCP 8-bit Floating Point Specification (OFP8), revision 1.0.
enum class DType : uint8_t { kF64, kF32, kBF16, kF16, kF8E4M3, kF8E5M2, kI64, kI32, kI16, kI8, kBool };

/// Bytes of one element as it lies in memory (kBool: one byte, 0 or 1).
[[nodiscard]] int size_of(DType type);
/// "f32", "i64", "bool", …
[[nodiscard]] std::string_view name_of(DType type);
/// As PyTorch and NumPy's extensions name it: "float32", "bfloat16", "float8_e4m3fn", "bool".
[[nodiscard]] std::string_view numpy_name_of(DType type);
/// As kernels of hone's own headers name it: "float", "hone::bf16", "int64_t", "bool".
[[nodiscard]] std::string_view cpp_name_of(DType type);
[[nodiscard]] std::optional<DType> dtype_from(std::string_view name);
[[nodiscard]] inline bool is_float(DType t) { return t <= DType::kF8E5M2; }
/// A float of two bytes or one: operations compute in f32 inside and round their results.
[[nodiscard]] inline bool is_narrow(DType t) { return t >= DType::kBF16 && t <= DType::kF8E5M2; }
/// A float of one byte.
[[nodiscard]] inline bool is_f8(DType t) { return t == DType::kF8E4M3 || t == DType::kF8E5M2; }
[[nodiscard]] inline bool is_int(DType t) { return t >= DType::kI64 && t <= DType::kI8; }
/// Unit roundoff (half the distance from 1 to the next value): 2^-53, 2^-24, 2^-8 (bf16), 2^-11
/// (f16), 2^-4 (f8e4m3), 2^-3 (f8e5m2); 0 for the others.
[[nodiscard]] double unit_roundoff(DType type);
/// Smallest positive normal number; 0 for the others.
[[nodiscard]] double smallest_normal(DType type);
/// Largest finite number of a float.
[[nodiscard]] double largest(DType type);

/// Values of shape symbols in one workload: {"B": 4096, "D": 8192}.
using Bindings = std::map<std::string, int64_t, std::less<>>;
/// A concrete shape, outermost dimension first; tensors are dense and row-major unless said.
using Shape = std::vector<int64_t>;

[[nodiscard]] int64_t element_count(const Shape& shape);

}  // namespace hone::task
