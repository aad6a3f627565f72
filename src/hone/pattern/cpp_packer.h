// How a factor of a product is packed into panels by C++: text for hone/cpu/pack.h. Pure.
#pragma once
#include <optional>
#include <string>

#include "hone/pattern/contraction.h"

namespace hone::pattern {

/// What the register tiles multiply: a type of hone/cpu/products.h.
struct CppProducts {
  std::string type;      ///< "hone::I8Products"
  std::string vector;    ///< of the sums: "f32v"
  std::string sum;       ///< "float"
  std::string element;   ///< of the panels: "int8_t"
  task::DType packed = task::DType::kF32;
  int sum_bytes = 4;
  int group = 1;         ///< neighbours in depth that are packed side by side
};
/// 16-bit factors become f32 while they are packed: AVX512_BF16 takes denormal numbers for 0, which the evaluator refuses.
[[nodiscard]] CppProducts products_for(const Contraction& all);

class CppPacker {
 public:
  /// Panels of `count` (a tunable) lines each: `left` those of rows, else of columns.
  CppPacker(const task::Task& task, const Contraction& all, const CppProducts& products, bool left);

  /// Neighbours across a panel are neighbours in memory, and those in depth are not.
  [[nodiscard]] bool side_by_side() const;
  /// Depth can be packed a segment at a time.
  [[nodiscard]] bool in_segments() const { return all_.depth.letters.size() == 1; }
  /// Statements that pack count_at lines from line first_at on to to_at, of batch batch_at: all of the depth, or where
  /// in_segments() many_at of it from low_at on.
  [[nodiscard]] std::string text(const std::string& indent) const;

 private:
  [[nodiscard]] task::IntExpr extent(char letter) const { return all_.extents.at(letter); }
  [[nodiscard]] std::string times(const std::string& index, const task::IntExpr& stride) const;
  [[nodiscard]] std::string offset(const AxisGroup& group, const std::string& index) const;

  const Contraction& all_;
  const Factor& factor_;
  const AxisGroup& lines_;
  const CppProducts& products_;
  bool left_;
  std::string tensor_, type_;
};

}  // namespace hone::pattern
