#include "hone/evaluate/verify/inputs.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/parallel.h"

namespace hone::evaluate {
namespace {

using task::Domain;
using task::DType;
using task::InputSpec;
using task::Shape;
using task::Structure;

/// Elements drawn and mapped at a time.
constexpr int64_t kChunk = 4096;

/// One tensor's stream: the seed, mixed with what tells its tensor from others drawn with it.
uint64_t key_of(const InputSpec& spec, Family family, uint64_t seed) {
  uint64_t key = seed ^ (0x9E3779B97F4A7C15u * (static_cast<uint64_t>(family) + 1));
  for (const char c : spec.name) key = (key ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return key ^ (key >> 29);
}

/// What an element's value is made from.
struct Bits {
  double uniform;  ///< in (0, 1), 53 bits
  double other;    ///< a second, independent one
};

Bits bits_of(uint64_t key, int64_t index) {
  const auto r = base::philox(key, static_cast<uint64_t>(index));
  const auto unit = [](uint32_t high, uint32_t low) {
    return (static_cast<double>(((uint64_t{high} << 32) | low) >> 11) + 0.5) * 0x1p-53;
  };
  return {unit(r[1], r[0]), unit(r[3], r[2])};
}

double normal_of(const Bits& b) {
  return std::sqrt(-2 * std::log(b.uniform)) * std::cos(2 * std::numbers::pi * b.other);
}

double sign_of(const Bits& b) { return b.other < 0.5 ? -1 : 1; }

/// Parameters of one tensor.
struct Stream {
  uint64_t key;
  Family family;
  DType type;
  double centre;  ///< kShifted: the tensor's mean

  Stream(const InputSpec& spec, Family f, uint64_t seed)
      : key(key_of(spec, f, seed)), family(f), type(spec.type.dtype) {
    // Large enough to ruin E[x^2] - E[x]^2 at fp32, small enough for the type to tell values apart.
    const double size = type == DType::kF16 || type == DType::kBF16 ? 16 : 1000;
    centre = size * (1 + bits_of(key, -1).uniform);
  }

  [[nodiscard]] double largest() const { return type == DType::kF16 ? 100 : 10000; }
};

/// A finite real number of the family.
double real_value(const Stream& s, int64_t index) {
  const Bits b = bits_of(s.key, index);
  switch (s.family) {
    case Family::kNormal: return normal_of(b);
    case Family::kUniform: return b.uniform;
    case Family::kLarge: return sign_of(b) * std::pow(s.largest(), 2 * b.uniform - 1);
    case Family::kSparse: {
      const double u = b.uniform;
      if (u < 0.70) return 0;
      if (u < 0.75) return -0.0;
      if (u < 0.85) return sign_of(b);  // ties
      if (u < 0.88) return sign_of(b) * task::smallest_normal(s.type) * (0.88 - u) / 0.03;
      return normal_of(bits_of(s.key ^ 1, index));
    }
    case Family::kShifted: return s.centre + normal_of(b);
    case Family::kMantissa: {
      // Pareto with index 1/2: the largest of any number of terms outweighs the rest together, so a
      // sum of products holds one or two full products, whichever way it runs through the tensors.
      const double most = s.type == DType::kF16 ? 0x1p7 : 0x1p40;
      return sign_of(b) * std::min(1 / (b.uniform * b.uniform), most);
    }
    case Family::kInteger: return std::floor(b.uniform * 7) - 3;
  }
  return 0;
}

double positive_value(const Stream& s, int64_t index) {
  const double v = std::abs(real_value(s, index));
  // Zeros become small but ordinary numbers: their logarithms and reciprocals stay in range.
  return round_to(s.type, v) > 0 && v >= 0x1p-14 ? v : 0x1p-10;
}

double unit_value(const Stream& s, int64_t index) {
  const Bits b = bits_of(s.key, index);
  switch (s.family) {
    case Family::kNormal: return 1 / (1 + std::exp(-normal_of(b)));
    case Family::kLarge: {  // towards both ends
      const double small = std::exp2(-20 * b.uniform);
      return b.other < 0.5 ? small : 1 - small;
    }
    case Family::kSparse: return b.uniform < 0.5 ? 0 : b.uniform < 0.75 ? 1 : b.other;
    case Family::kShifted: return 0.5 + 0.001 * (b.uniform - 0.5);
    case Family::kInteger: return b.uniform < 0.5 ? 0 : 1;
    case Family::kUniform:
    case Family::kMantissa: return b.uniform;
  }
  return b.uniform;
}

double near_one_value(const Stream& s, int64_t index) {
  const Bits b = bits_of(s.key, index);
  switch (s.family) {
    case Family::kNormal: return 1 + 0.1 * std::clamp(normal_of(b), -4.0, 4.0);
    case Family::kLarge: return std::exp2(4 * b.uniform - 2);
    case Family::kSparse: return b.uniform < 0.8 ? 1 : 0.5 + b.other;
    case Family::kShifted: return 1 + 0.001 * (b.uniform - 0.5);
    case Family::kInteger: return b.uniform < 0.5 ? 1 : 2;
    case Family::kUniform:
    case Family::kMantissa: return 0.5 + b.uniform;
  }
  return 1;
}

double index_value(const Stream& s, int64_t bound, int64_t index) {
  const Bits b = bits_of(s.key, index);
  const auto n = static_cast<double>(bound);
  const auto in_range = [n](double v) { return std::clamp(std::floor(v), 0.0, n - 1); };
  switch (s.family) {
    case Family::kLarge: return b.other < 0.5 ? 0 : n - 1;                   // both ends
    case Family::kSparse: return b.other < 0.8 ? 0 : in_range(b.uniform * n);  // many repeats
    case Family::kShifted: return in_range(n - 1 - b.uniform * b.uniform * n / 8);
    case Family::kInteger: return static_cast<double>(index % bound);        // in order
    default: return in_range(b.uniform * n);
  }
}

/// Whole numbers for integer types of the real domain: within what i8 holds and sums stay exact.
double whole_value(const Stream& s, int64_t index) {
  const Bits b = bits_of(s.key, index);
  switch (s.family) {
    case Family::kNormal: return std::round(std::clamp(8 * normal_of(b), -100.0, 100.0));
    case Family::kUniform: return std::floor(b.uniform * 10);
    case Family::kSparse: return b.uniform < 0.8 ? 0 : sign_of(b);
    case Family::kShifted: return 90 + std::floor(b.uniform * 5);
    case Family::kInteger: return std::floor(b.uniform * 7) - 3;
    case Family::kLarge:
    case Family::kMantissa: return std::floor(b.uniform * 255) - 127;
  }
  return 0;
}

double value_of(const InputSpec& spec, const Stream& s, int64_t bound, int64_t index) {
  if (spec.domain == Domain::kIndex) return index_value(s, bound, index);
  if (s.type == DType::kBool) {
    const double share = s.family == Family::kSparse ? 0.05 : s.family == Family::kLarge ? 0.95 : 0.5;
    return bits_of(s.key, index).uniform < share;
  }
  if (spec.domain == Domain::kSign) return sign_of(bits_of(s.key, index));
  if (task::is_int(s.type)) {
    const double v = whole_value(s, index);
    return spec.domain == Domain::kPositive ? std::abs(v) + 1 : v;
  }
  switch (spec.domain) {
    case Domain::kPositive:
    case Domain::kSimplex: return positive_value(s, index);
    case Domain::kNearOne: return near_one_value(s, index);
    case Domain::kUnit: return unit_value(s, index);
    default: return real_value(s, index);
  }
}

/// Where element (row, column) of the last two dimensions takes its value from: itself, its mirror
/// image, or nowhere (-1: zero).
int64_t place_of(Structure structure, int64_t index, int64_t rows, int64_t columns) {
  if (structure == Structure::kNone) return index;
  const int64_t row = index / columns % rows, column = index % columns;
  if (structure == Structure::kTriu) return row <= column ? index : -1;
  if (structure == Structure::kTril) return row >= column ? index : -1;
  return row <= column ? index : index + (column - row) * columns + (row - column);
}

}  // namespace

std::string_view name_of(Family family) {
  switch (family) {
    case Family::kNormal: return "normal";
    case Family::kUniform: return "uniform";
    case Family::kLarge: return "large";
    case Family::kSparse: return "sparse";
    case Family::kShifted: return "shifted";
    case Family::kMantissa: return "mantissa";
    case Family::kInteger: return "integer";
  }
  return "?";
}

void draw(const InputSpec& spec, const Shape& shape, int64_t index_bound, Family family,
          uint64_t seed, void* data, int threads) {
  const Stream stream(spec, family, seed);
  const int64_t total = task::element_count(shape);
  const int64_t columns = shape.empty() ? 1 : shape.back();
  const int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  const bool simplex = spec.domain == Domain::kSimplex && task::is_float(stream.type);
  const bool structured = spec.structure != Structure::kNone && shape.size() >= 2;
  // A simplex is drawn row by row, so that each part can be normalised where it is drawn.
  const int64_t grain = simplex ? columns : kChunk;
  parallel_for(total == 0 ? 0 : (total + grain - 1) / grain, threads, [&](int64_t part) {
    thread_local std::vector<double> values;
    const int64_t begin = part * grain, count = std::min(grain, total - begin);
    values.resize(static_cast<size_t>(count));
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from =
          structured ? place_of(spec.structure, begin + i, rows, columns) : begin + i;
      const double v = from < 0 ? 0 : value_of(spec, stream, index_bound, from);
      values[static_cast<size_t>(i)] = v;
      sum += v;
    }
    if (simplex)
      for (double& v : values) v /= sum;
    store_doubles(stream.type, values.data(), count, data, begin);
  });
}

}  // namespace hone::evaluate
