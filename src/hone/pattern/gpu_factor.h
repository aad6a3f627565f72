// A factor of a product as text for a GPU: where its elements lie and how wide they can be read. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/pattern/contraction.h"
#include "hone/task/graph/triangle.h"

namespace hone::pattern {

/// In parentheses where it is more than a name or a number.
[[nodiscard]] std::string wrapped(std::string text);

/// A factor read as lines x depth: the lines are rows of the left factor, columns of the right one.
class GpuFactor {
 public:
  /// Of a computed one nothing is to be asked.
  GpuFactor(const task::Task& task, const Contraction& all, const Factor& factor, const AxisGroup& lines);

  [[nodiscard]] task::DType dtype() const { return dtype_; }
  [[nodiscard]] int vector() const { return static_cast<int>(16 / task::size_of(dtype_)); }  ///< elements of 16 bytes
  [[nodiscard]] bool along_depth() const { return along_depth_; }
  /// Neighbours in depth are neighbours in memory, all along it.
  [[nodiscard]] bool side_by_side() const { return along_depth_ && linear(all_.depth); }
  /// Lines next to each other are neighbours in memory, all along the lines.
  [[nodiscard]] bool lines_side_by_side() const { return beside(lines_) && linear(lines_); }
  /// Steps along the lines and along the depth are the same everywhere.
  [[nodiscard]] bool steady() const { return linear(lines_) && linear(all_.depth); }
  /// Steps of lines, depth and batches are each the same everywhere, and neither lines nor depths are all one.
  [[nodiscard]] bool is_tensor() const { return steady() && linear(all_.batch) && line() != "0" && depth() != "0"; }
  /// Not the same in every batch.
  [[nodiscard]] bool batched() const { return offset(all_.batch, "batch_at") != "0"; }
  /// Pointer to the factor's first element in batch `batch_at`.
  [[nodiscard]] std::string base() const;
  /// Where the index that picks is, as an element of it in batch `batch_at` at row `line_at` of the product.
  [[nodiscard]] std::string pick_place() const;
  [[nodiscard]] std::string line() const { return offset(lines_, "line_at"); }
  [[nodiscard]] std::string depth() const { return offset(all_.depth, "depth_at"); }
  /// When elements can be read vector() at a time: conditions on shapes, all of which must hold; nothing where they never can.
  [[nodiscard]] std::optional<std::vector<std::string>> wide() const;
  /// Whether they can at a workload's symbols.
  [[nodiscard]] bool wide_at(const task::Bindings& symbols) const;

 private:
  /// Of how many elements each has to be a multiple of vector() for wide reads; nothing where neighbours lie apart.
  [[nodiscard]] std::optional<std::vector<task::IntExpr>> strides_of_wide() const;
  using StrideOf = task::IntExpr (Factor::*)(char) const;
  [[nodiscard]] bool linear(const AxisGroup& group, StrideOf stride = &Factor::stride) const;
  [[nodiscard]] std::string offset(const AxisGroup& group, const std::string& index, StrideOf stride = &Factor::stride) const;
  [[nodiscard]] bool beside(const AxisGroup& group) const { return is_one(factor_.stride(group.letters.back())); }

  const Contraction& all_;
  const Factor& factor_;
  const AxisGroup& lines_;
  std::string tensor_;
  task::DType dtype_;
  bool along_depth_;
};

/// What is known of zeros: in the factors as triangles of (line, depth), of the result as one of (row, column) outside
/// which nobody looks. For any shape.
struct ProductTriangles {
  std::optional<task::Triangle> a, b, result;
};
[[nodiscard]] ProductTriangles triangles_of(const task::Task& task, const Contraction& contraction);

}  // namespace hone::pattern
