// The functions of a plain kernel, by kind of operation: each writes the loops that fill one tensor.
#pragma once
#include <string>

#include "hone/pattern/plain_value.h"

namespace hone::pattern::plain {

/// Element by element; for a kConcat the part that operand `part` gives.
void write_elements(Function& f, int id, const std::string& tensor);
void write_concat_part(Function& f, int id, size_t part, const std::string& tensor);
void write_reduction(Function& f, int id, const std::string& tensor);
void write_scan(Function& f, int id, const std::string& tensor);
/// A line along the axis at a time: its elements of the source in their order, so that equal inputs give equal bits.
void write_scatter(Function& f, int id, const std::string& tensor);
void write_sort(Function& f, int id, const std::string& tensor);
void write_dot(Function& f, int id, const std::string& tensor);
void write_convolution(Function& f, int id, const std::string& tensor);
void write_pool(Function& f, int id, const std::string& tensor);

/// The same in Triton: a lane an element of the result.
[[nodiscard]] auto lanes_writer_for(task::Prim op) -> void (*)(Function&, int id, const std::string& tensor);

// What they share.

/// A running result: how it starts and how a value goes in.
struct Running {
  std::string type, start;
  /// The statement that takes `value` in; `index` is where it stands, for arg reductions; of a linear
  /// recurrence, what the results so far are multiplied by.
  [[nodiscard]] std::string take(const std::string& into, const std::string& value, const std::string& index) const;
  enum class Kind : uint8_t { kSum, kProduct, kMax, kMin, kAny, kAll, kArgMax, kArgMin, kLogSumExp, kLinear } kind;
  std::string narrowed;  ///< a type that each step is rounded to, by mistake
  [[nodiscard]] bool is_arg() const { return kind == Kind::kArgMax || kind == Kind::kArgMin; }
};
/// For a reduction, scan, contraction, convolution or pooling node, with its misprints.
[[nodiscard]] Running running_of(Function& f, int id);

/// Dimensions that are not written 1.
[[nodiscard]] std::vector<size_t> walked(const task::Dims& dims);
/// Grid over the dimensions `over`; the positions there, "0" elsewhere.
[[nodiscard]] Position grid_over(Function& f, const task::Dims& dims, const std::vector<size_t>& over,
                                 const std::string& block);
/// tensor[position] = value;
[[nodiscard]] std::string store_text(Function& f, int id, const std::string& tensor, const Position& at, const std::string& value);

}  // namespace hone::pattern::plain
