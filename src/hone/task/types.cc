#include "hone/task/types.h"

#include <array>
#include <limits>

#include "hone/base/result.h"

namespace hone::task {
namespace {

struct TypeRow {
  std::string_view name, numpy, cpp;
  int size;
  double roundoff;
  double normal;
  double largest;
};
constexpr std::array<TypeRow, 11> kTypes{{
    {"f64", "float64", "double", 8, 0x1p-53, 0x1p-1022, std::numeric_limits<double>::max()},
    {"f32", "float32", "float", 4, 0x1p-24, 0x1p-126, std::numeric_limits<float>::max()},
    {"bf16", "bfloat16", "hone::bf16", 2, 0x1p-8, 0x1p-126, 0x1.fep127},
    {"f16", "float16", "hone::f16", 2, 0x1p-11, 0x1p-14, 65504},
    {"f8e4m3", "float8_e4m3fn", "hone::f8e4m3", 1, 0x1p-4, 0x1p-6, 448},
    {"f8e5m2", "float8_e5m2", "hone::f8e5m2", 1, 0x1p-3, 0x1p-14, 57344},
    {"i64", "int64", "int64_t", 8, 0, 0, 0},
    {"i32", "int32", "int32_t", 4, 0, 0, 0},
    {"i16", "int16", "int16_t", 2, 0, 0, 0},
    {"i8", "int8", "int8_t", 1, 0, 0, 0},
    {"bool", "bool", "bool", 1, 0, 0, 0},
}};

const TypeRow& row(DType type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

int size_of(DType type) { return row(type).size; }
std::string_view name_of(DType type) { return row(type).name; }
std::string_view numpy_name_of(DType type) { return row(type).numpy; }
std::string_view cpp_name_of(DType type) { return row(type).cpp; }
double unit_roundoff(DType type) { return row(type).roundoff; }
double smallest_normal(DType type) { return row(type).normal; }
double largest(DType type) { return row(type).largest; }

std::optional<DType> dtype_from(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape)
    HONE_CHECK(!__builtin_mul_overflow(count, extent, &count), "tensor size overflows");
  return count;
}

}  // namespace hone::task
