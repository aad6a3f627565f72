#include "hone/evaluate/verify/draw/draw_tensor.h"

#include <algorithm>

#include "hone/base/random.h"

namespace hone::evaluate {
namespace {

using task::Domain;
using task::DType;
using task::InputSpec;
using task::Shape;
using task::Structure;

/// One tensor's stream: the seed, mixed with what tells its tensor from others drawn with it.
uint64_t key_of(const InputSpec& spec, Family family, uint64_t seed) {
  uint64_t key = seed ^ (0x9E3779B97F4A7C15u * (static_cast<uint64_t>(family) + 1));
  for (const char c : spec.name) key = (key ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return key ^ (key >> 29);
}

DrawKind kind_of(const InputSpec& spec) {
  const DType type = spec.type.dtype;
  if (type == DType::kBool) return DrawKind::kTruth;
  if (spec.domain == Domain::kSign) return DrawKind::kSign;
  if (task::is_int(type))
    return spec.domain == Domain::kPositive ? DrawKind::kPositiveWhole : DrawKind::kWhole;
  switch (spec.domain) {
    case Domain::kPositive:
    case Domain::kSimplex: return DrawKind::kPositive;
    case Domain::kNearOne: return DrawKind::kNearOne;
    case Domain::kUnit: return DrawKind::kUnitInterval;
    default: return DrawKind::kReal;
  }
}

/// One slab across each axis of three or more: whatever axes a norm runs over, some of its segments
/// are all zero. A quarter of the draws have none, so that tasks which make nothing but NaN of such a
/// segment see the family too.
std::vector<Slab> slabs_of(const InputSpec& spec, const Shape& shape, const Recipe& recipe) {
  std::vector<Slab> slabs;
  const bool holds_zero = recipe.kind == DrawKind::kReal || recipe.kind == DrawKind::kUnitInterval ||
                          recipe.kind == DrawKind::kWhole || recipe.kind == DrawKind::kTruth;
  if (recipe.family != Family::kSparse || !holds_zero || spec.domain == Domain::kIndex) return slabs;
  base::Rng rng(recipe.key, static_cast<uint64_t>(DrawStream::kSlabs));
  if (rng.below(4) == 0) return slabs;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    if (shape[d] < 3) continue;
    // A symmetric matrix mirrors its rows: rows and columns alike.
    const bool mirrored = spec.structure == Structure::kSymmetric && d + 2 == shape.size() && shape[d] == shape.back() && !slabs.empty();
    slabs.push_back({stride, shape[d],
                     mirrored ? slabs.front().index
                              : static_cast<int64_t>(rng.below(static_cast<uint64_t>(shape[d])))});
  }
  return slabs;
}

int wide_bits(const DrawBounds& bounds, Family family) {
  return family == Family::kLarge ? bounds.plain_bits : family == Family::kMantissa ? bounds.wrapping_bits : 0;
}

bool draws_wide(const InputSpec& spec, const DrawBounds& bounds, Family family) {
  const DrawKind kind = kind_of(spec);
  return spec.domain != Domain::kIndex && (kind == DrawKind::kWhole || kind == DrawKind::kPositiveWhole) && wide_bits(bounds, family) > 0;
}

/// Domains that hold infinities: a NaN stands for no number at all and goes with them.
bool puts_in_non_finite(const InputSpec& spec, Family family) {
  return family == Family::kNonFinite && task::is_float(spec.type.dtype) && (spec.domain == Domain::kReal || spec.domain == Domain::kPositive);
}

/// The last axis in every second draw, else any.
Slab lines_of(const Shape& shape, uint32_t random) {
  if (shape.empty()) return {1, 1, 0};
  const size_t axis = (random & 1) != 0 ? shape.size() - 1 : (random >> 1) % shape.size();
  int64_t stride = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) stride *= shape[d];
  return {stride, shape[axis], 0};
}

}  // namespace

uint64_t DrawnTensor::bits_beside(uint64_t counter) const {
  const auto words = base::philox(recipe.key, counter, static_cast<uint64_t>(DrawStream::kOther));
  return (uint64_t{words[1]} << 32) | words[0];
}

int64_t DrawnTensor::place_of_one(uint64_t bits_of_line) const {
  const uint64_t where = bits_of_line >> 61;
  if (where < 4) return lines.extent - 1;
  return where == 4 ? 0 : static_cast<int64_t>((bits_of_line >> 16) % static_cast<uint64_t>(lines.extent));
}

bool DrawnTensor::surely_holds_nan() const {
  if (!non_finite || only_infinities() || total == 0 || structure != task::Structure::kNone) return false;
  if (one_alone()) return nan_by(manner >> 2);
  constexpr int64_t kMostLines = 64;
  for (int64_t line = 0; line < std::min(total / lines.extent, kMostLines); ++line) {
    const uint64_t bits = bits_beside(static_cast<uint64_t>(line)), how = bits & 7;
    if (how >= kLineHasOne && how < kLineHasSome && nan_by(bits >> 8)) return true;
  }
  return false;
}

bool drawn_on_host_only(const InputSpec& spec, const DrawBounds& bounds, Family family) {
  return task::is_f8(spec.type.dtype) || bounds.nonzero || draws_wide(spec, bounds, family) || puts_in_non_finite(spec, family);
}

DrawnTensor drawn_tensor(const InputSpec& spec, const Shape& shape, const DrawBounds& bounds, Family family, uint64_t seed) {
  DrawnTensor t;
  t.type = spec.type.dtype;
  t.recipe.key = key_of(spec, family, seed);
  t.recipe.family = family;
  t.recipe.kind = kind_of(spec);
  t.recipe.f16 = t.type == DType::kF16 || task::is_f8(t.type);
  // Large enough to ruin E[x^2] - E[x]^2 at fp32, small enough for the type to tell values apart.
  const float size = task::is_narrow(t.type) ? 16 : 1000;
  const auto random = base::philox(t.recipe.key, 0, static_cast<uint64_t>(DrawStream::kTensor));
  t.recipe.centre = size * (1 + static_cast<float>(random[0] >> 8) * 0x1p-24F);
  if ((random[1] & 1) != 0) t.recipe.centre = -t.recipe.centre;
  // Squares and quotients of any two of them are numbers of fp32, of two elements of f16 as far as that goes: where those become fp32
  // before anything is done with them, every second draw goes far beyond. Floats of one byte always do.
  if (family == Family::kLarge) {
    const float of_f16 = bounds.widened && (random[1] & 2) != 0 ? 30000.0F : 100.0F;
    const float most = task::is_f8(t.type) ? static_cast<float>(task::largest(t.type)) : t.recipe.f16 ? of_f16 : bounds.any_size ? 0x1p60F : 10000.0F;
    t.recipe.centre = bounds.any_size ? -most : most;
  }
  t.slabs = slabs_of(spec, shape, t.recipe);
  t.structure = shape.size() < 2 ? Structure::kNone : spec.structure;
  t.index = spec.domain == Domain::kIndex;
  t.simplex = spec.domain == Domain::kSimplex && task::is_float(t.type);
  t.zeros_in_simplex = family == Family::kSparse && (random[2] & 1) != 0;
  t.bound = static_cast<uint64_t>(std::max<int64_t>(bounds.index, 1));
  t.least = t.most = 0;
  if (draws_wide(spec, bounds, family)) {
    const int bits = std::min<int>(wide_bits(bounds, family), 8 * static_cast<int>(task::size_of(t.type)) - 1);
    t.most = (int64_t{1} << bits) - 1;
    t.least = t.recipe.kind == DrawKind::kPositiveWhole ? 1 : bounds.symmetric ? -t.most : -t.most - 1;
  }
  t.nonzero = bounds.nonzero;
  t.non_finite = puts_in_non_finite(spec, family);
  t.lines = lines_of(shape, random[3]);
  t.manner = random[2];
  t.total = task::element_count(shape);
  t.columns = shape.empty() ? 1 : shape.back();
  t.rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  return t;
}

}  // namespace hone::evaluate
