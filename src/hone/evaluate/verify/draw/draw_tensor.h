// What draw() needs to know of one tensor: how its elements are made from random words, and what its domain and its
// structure make of them. The same for the host's loops and for a card. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "hone/evaluate/verify/draw/draw_kernels.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Positions `index` of an axis, to be zero: elements whose index along it, (e / stride) % extent, it is.
struct Slab {
  int64_t stride, extent, index;
};

struct DrawnTensor {
  Recipe recipe;
  task::DType type;
  task::Structure structure;  ///< kNone below two dimensions
  bool index, simplex;
  bool zeros_in_simplex;      ///< small values of a simplex become zeros
  std::vector<Slab> slabs;    ///< of zeros
  uint64_t bound;             ///< of indices
  int64_t least, most;        ///< of integers over a wide range; both 0: as the family's formulas have them
  bool nonzero;               ///< of integers: ones stand where zeros would
  bool non_finite;            ///< NaN and infinities are put in
  Slab lines;                 ///< then: what counts as a row, along one axis (`index` does not matter)
  uint32_t manner;            ///< random bits for how the whole tensor is, in these two
  int64_t total, rows, columns;

  /// Upper triangles are copied over the lower ones once all is drawn.
  [[nodiscard]] bool mirrored() const { return structure == task::Structure::kSymmetric && rows == columns; }

  /// What is not finite, if it is put in: one alone, or line by line as `bits_beside(line)` say.
  [[nodiscard]] bool one_alone() const { return (manner & 3) == 0; }
  [[nodiscard]] bool only_infinities() const { return (manner & 3) == 1; }
  /// A NaN is among it whatever else is drawn.
  [[nodiscard]] bool surely_holds_nan() const;
  /// Where in a line that has one it is: in half of the lines last, where kernels have their tails, in an eighth first.
  [[nodiscard]] int64_t place_of_one(uint64_t bits_of_line) const;
  /// Random bits beside those of values.
  [[nodiscard]] uint64_t bits_beside(uint64_t counter) const;
};
/// Lines by the last three bits of theirs: ordinary below 2, one or all of a kind up to 5, some of one kind or of all.
inline constexpr uint64_t kLineHasOne = 2, kLineHasAll = 4, kLineHasSome = 6, kLineHasMixture = 7;
/// Which of three kinds further bits mean: an infinity below 2.
inline constexpr bool nan_by(uint64_t bits) { return bits % 3 == 2; }

/// Arguments as of draw().
[[nodiscard]] DrawnTensor drawn_tensor(const task::InputSpec& spec, const task::Shape& shape, const DrawBounds& bounds, Family family,
                                       uint64_t seed);
/// Whether formulas of the host's alone make the values: wide integers, NaN and infinities.
[[nodiscard]] bool drawn_on_host_only(const task::InputSpec& spec, const DrawBounds& bounds, Family family);

}  // namespace hone::evaluate
