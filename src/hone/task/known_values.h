// Values of an input that are known when the task is written: a mask, a table of positions, indices. They come from a file in
// NumPy's format (.npy) beside the task file, or packed from the task's own text. Plain values; pure.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hone/base/result.h"
#include "hone/task/types.h"

namespace hone::task {

struct KnownValues {
  std::string file;   ///< as the task file names it; empty: they came with the text
  Shape shape;
  std::shared_ptr<const std::string> bytes;   ///< dense, row-major, of the input's type
};

/// Of all inputs of a task together, as pack_values() gives them: a task's text holds them wherever it goes.
inline constexpr size_t kMaxPackedValues = size_t{640} << 10;
/// What such a text begins with.
inline constexpr std::string_view kPackedPrefix = "data:";

/// The content of a .npy file as values of a type: of the same type there, bf16 as f32 that are bf16's numbers. kInput, in one sentence
/// that goes on behind the file's name ("holds i32, not i64").
[[nodiscard]] Result<KnownValues> values_from_npy(std::string_view npy, DType type);
[[nodiscard]] std::string npy_of(const KnownValues& values, DType type);

/// "data:…", the .npy file packed (gzip) as base64: one text for the same values.
[[nodiscard]] std::string pack_values(const KnownValues& values, DType type);
[[nodiscard]] Result<KnownValues> unpack_values(std::string_view text, DType type);

/// The element as a number; bools are 0 and 1.
[[nodiscard]] double value_at(const KnownValues& values, DType type, int64_t element);

}  // namespace hone::task
