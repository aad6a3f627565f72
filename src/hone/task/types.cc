#include "hone/task/types.h"

#include <array>

#include "hone/base/result.h"

namespace hone::task {
namespace {

struct TypeRow {
  std::string_view name;
  int size;
  double roundoff;
  double normal;
};
constexpr std::array<TypeRow, 9> kTypes{{
    {"f64", 8, 0x1p-53, 0x1p-1022},
    {"f32", 4, 0x1p-24, 0x1p-126},
    {"bf16", 2, 0x1p-8, 0x1p-126},
    {"f16", 2, 0x1p-11, 0x1p-14},
    {"i64", 8, 0, 0},
    {"i32", 4, 0, 0},
    {"i16", 2, 0, 0},
    {"i8", 1, 0, 0},
    {"bool", 1, 0, 0},
}};

const TypeRow& row(DType type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

int size_of(DType type) { return row(type).size; }
std::string_view name_of(DType type) { return row(type).name; }
double unit_roundoff(DType type) { return row(type).roundoff; }
double smallest_normal(DType type) { return row(type).normal; }

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
