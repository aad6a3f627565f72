// Input families: how test inputs are drawn inside a task's domains and structure. Counter-based, so
// a tensor is a function of (spec, family, seed) alone, whatever thread draws which part.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "hone/task/task.h"

namespace hone::evaluate {

enum class Family : uint8_t {
  kNormal,      ///< signed standard normal
  kUniform,     ///< the task's own distribution: uniform in [0, 1) as benchmarks draw it, mapped to the domain
  kLarge,       ///< heavy-tailed, magnitudes up to about 1e4 (1e2 for f16), or DrawBounds::any_size
  kSparse,      ///< mostly zeros, ties, signed zeros, denormals, a few ordinary values; in most draws
                ///< one slab of zeros across each axis, in half of the simplex ones exact zeros
  kShifted,     ///< large mean of either sign, small variance: catastrophic for one-pass variances and
                ///< for maxima that start at zero
  kMantissa,    ///< Pareto magnitudes with index 1/2, so that the largest of any number of products
                ///< outweighs the rest: every output holds one or two full-mantissa products, which
                ///< shows reduced precision at any K
  kInteger,     ///< small integers: linear operations are exact in any order
  kNonFinite,   ///< normal values, with NaN and infinities among them: for tasks with `nan = true` only
};
/// Those of every task.
inline constexpr Family kAllFamilies[] = {Family::kNormal,  Family::kUniform, Family::kLarge,
                                          Family::kSparse,  Family::kShifted, Family::kMantissa,
                                          Family::kInteger};
[[nodiscard]] std::string_view name_of(Family family);

/// What a draw has to know beside the input's specification; it depends on the shape (draw_bounds() in integer_bounds.h).
struct DrawBounds {
  DrawBounds() = default;
  DrawBounds(int64_t index_bound) : index(index_bound) {}  // NOLINT: indices need nothing else

  int64_t index = 1;      ///< the value of spec.index_bound
  /// Bits beside the sign of the largest integers that the large family draws, with which nothing overflows on the way; and
  /// the mantissa family, with which integer arithmetic may wrap around. 0: as the other families, 7 bits.
  int plain_bits = 0, wrapping_bits = 0;
  bool symmetric = false;  ///< the least number of a type is not drawn
  /// Nothing is added up and each operation takes any number: the large family draws magnitudes up to 2^60 and down to
  /// 2^-60, and numbers of two bits among them.
  bool any_size = false;
  /// f16 becomes another type before anything is done with it: the large family goes up to 3e4 in every second draw.
  bool widened = false;
  bool nonzero = false;    ///< integers that something is divided by: ones are drawn for zeros
};

/// Neighbouring elements of a tensor, row-major.
struct Segment {
  int64_t begin, end;
};

/// Whether nothing is drawn for an input of that shape: the task says its values.
[[nodiscard]] inline bool is_known(const task::InputSpec& spec, const task::Shape& shape) { return spec.values && spec.values->shape == shape; }

/// Fills `data` (dense, row-major, `shape`, spec.type.dtype) with the family's values, mapped into
/// spec's domain and structure; known values are those of the task, whatever the family and the seed.
/// Two threads at most by default; deterministic in (family, seed). Given segments, elements in them get the
/// values that they would get anyway; of the others, those near one too, the rest is not touched.
void draw(const task::InputSpec& spec, const task::Shape& shape, const DrawBounds& bounds, Family family,
          uint64_t seed, void* data, int threads = 2, const std::vector<Segment>* only = nullptr);

}  // namespace hone::evaluate
