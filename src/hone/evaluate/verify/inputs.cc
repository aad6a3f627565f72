#include "hone/evaluate/verify/inputs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/draw/loops.h"
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
  double shaped;   ///< what shape_bits() makes of them
};

double sign_of(const Bits& b) { return b.other < 0.5 ? -1 : 1; }

/// Parameters of one tensor.
struct Stream {
  uint64_t key;
  Family family;
  DType type;
  Domain domain;
  double centre;   ///< kShifted: the tensor's mean

  Stream(const InputSpec& spec, Family f, uint64_t seed)
      : key(key_of(spec, f, seed)), family(f), type(spec.type.dtype), domain(spec.domain) {
    // Large enough to ruin E[x^2] - E[x]^2 at fp32, small enough for the type to tell values apart.
    const double size = type == DType::kF16 || type == DType::kBF16 ? 16 : 1000;
    double u, v;
    draw_loops().uniforms(key, ~uint64_t{0}, 1, &u, &v);
    centre = size * (1 + u);
  }
};

constexpr double kLog2Hundred = 6.643856189774724;
constexpr double kSparseRest = 0.88;  // from here on sparse tensors hold ordinary values

/// The functions of the bits that a family needs, for many elements at a time: normal numbers, or
/// powers of two.
void shape_bits(const Stream& s, int64_t n, const double* u, const double* v, double* shaped) {
  switch (s.family) {
    case Family::kNormal:
    case Family::kShifted: return draw_loops().normals(n, u, v, shaped);
    case Family::kSparse:
      for (int64_t i = 0; i < n; ++i)
        shaped[i] = u[i] < kSparseRest ? u[i] : (u[i] - kSparseRest) / (1 - kSparseRest) + 0x1p-60;
      return draw_loops().normals(n, shaped, v, shaped);
    case Family::kLarge: {
      const double reach = s.domain == Domain::kUnit ? -20 : s.domain == Domain::kNearOne ? 4 : 2 * (s.type == DType::kF16 ? kLog2Hundred : 2 * kLog2Hundred);
      const double from = s.domain == Domain::kUnit ? 0 : -reach / 2;
      for (int64_t i = 0; i < n; ++i) shaped[i] = from + reach * u[i];
      return draw_loops().exp2(n, shaped, shaped);
    }
    default: std::fill_n(shaped, n, 0.0);
  }
}

/// A finite real number of the family.
double real_value(const Stream& s, const Bits& b) {
  switch (s.family) {
    case Family::kNormal: return b.shaped;
    case Family::kUniform: return b.uniform;
    case Family::kLarge: return sign_of(b) * b.shaped;
    case Family::kSparse: {
      const double u = b.uniform;
      if (u < 0.70) return 0;
      if (u < 0.75) return -0.0;
      if (u < 0.85) return sign_of(b);  // ties
      if (u < kSparseRest) return sign_of(b) * task::smallest_normal(s.type) * (kSparseRest - u) / 0.03;
      return b.shaped;
    }
    case Family::kShifted: return s.centre + b.shaped;
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

double positive_value(const Stream& s, const Bits& b) {
  // Zeros become small but ordinary numbers: their logarithms and reciprocals stay in range.
  const double v = std::abs(real_value(s, b));
  return v >= 0x1p-14 ? v : 0x1p-10;
}

double unit_value(const Stream& s, const Bits& b) {
  switch (s.family) {
    case Family::kNormal: return 0.5 + 0.5 * b.shaped / (1 + std::abs(b.shaped));
    case Family::kLarge: return b.other < 0.5 ? b.shaped : 1 - b.shaped;  // towards both ends
    case Family::kSparse: return b.uniform < 0.5 ? 0 : b.uniform < 0.75 ? 1 : b.other;
    case Family::kShifted: return 0.5 + 0.001 * (b.uniform - 0.5);
    case Family::kInteger: return b.uniform < 0.5 ? 0 : 1;
    case Family::kUniform:
    case Family::kMantissa: return b.uniform;
  }
  return b.uniform;
}

double near_one_value(const Stream& s, const Bits& b) {
  switch (s.family) {
    case Family::kNormal: return 1 + 0.1 * std::clamp(b.shaped, -4.0, 4.0);
    case Family::kLarge: return b.shaped;  // a quarter to four
    case Family::kSparse: return b.uniform < 0.8 ? 1 : 0.5 + b.other;
    case Family::kShifted: return 1 + 0.001 * (b.uniform - 0.5);
    case Family::kInteger: return b.uniform < 0.5 ? 1 : 2;
    case Family::kUniform:
    case Family::kMantissa: return 0.5 + b.uniform;
  }
  return 1;
}

double index_value(const Stream& s, int64_t bound, int64_t index, const Bits& b) {
  const auto n = static_cast<double>(bound);
  const auto in_range = [n](double v) { return std::clamp(std::floor(v), 0.0, n - 1); };
  switch (s.family) {
    case Family::kLarge: return b.other < 0.5 ? 0 : n - 1;                     // both ends
    case Family::kSparse: return b.other < 0.8 ? 0 : in_range(b.uniform * n);  // many repeats
    case Family::kShifted: return in_range(n - 1 - b.uniform * b.uniform * n / 8);
    case Family::kInteger: return static_cast<double>(index % bound);          // in order
    default: return in_range(b.uniform * n);
  }
}

/// Whole numbers for integer types of the real domain: within what i8 holds and sums stay exact.
double whole_value(const Stream& s, const Bits& b) {
  switch (s.family) {
    case Family::kNormal: return std::round(std::clamp(8 * b.shaped, -100.0, 100.0));
    case Family::kUniform: return std::floor(b.uniform * 10);
    case Family::kSparse: return b.uniform < 0.8 ? 0 : sign_of(b);
    case Family::kShifted: return 90 + std::floor(b.uniform * 5);
    case Family::kInteger: return std::floor(b.uniform * 7) - 3;
    case Family::kLarge:
    case Family::kMantissa: return std::floor(b.uniform * 255) - 127;
  }
  return 0;
}

double value_of(const Stream& s, int64_t bound, int64_t index, const Bits& b) {
  if (s.domain == Domain::kIndex) return index_value(s, bound, index, b);
  if (s.type == DType::kBool) {
    const double share = s.family == Family::kSparse ? 0.05 : s.family == Family::kLarge ? 0.95 : 0.5;
    return b.uniform < share;
  }
  if (s.domain == Domain::kSign) return sign_of(b);
  if (task::is_int(s.type)) {
    const double v = whole_value(s, b);
    return s.domain == Domain::kPositive ? std::abs(v) + 1 : v;
  }
  switch (s.domain) {
    case Domain::kPositive:
    case Domain::kSimplex: return positive_value(s, b);
    case Domain::kNearOne: return near_one_value(s, b);
    case Domain::kUnit: return unit_value(s, b);
    default: return real_value(s, b);
  }
}

/// Scratch memory of one thread.
struct Chunk {
  std::vector<double> u, v, shaped, values;

  /// The bits of elements from `begin` on, all in one stream.
  void fill(const Stream& stream, int64_t begin, int64_t count) {
    for (auto* array : {&u, &v, &shaped, &values}) array->resize(static_cast<size_t>(count));
    draw_loops().uniforms(stream.key, static_cast<uint64_t>(begin), count, u.data(), v.data());
    shape_bits(stream, count, u.data(), v.data(), shaped.data());
  }
  [[nodiscard]] Bits bits(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return {u[at], v[at], shaped[at]};
  }
};

/// The bits of one element.
Bits bits_of(const Stream& stream, int64_t index) {
  Bits b{};
  draw_loops().uniforms(stream.key, static_cast<uint64_t>(index), 1, &b.uniform, &b.other);
  shape_bits(stream, 1, &b.uniform, &b.other, &b.shaped);
  return b;
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
    thread_local Chunk chunk;
    const int64_t begin = part * grain, count = std::min(grain, total - begin);
    chunk.fill(stream, begin, count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = begin + i;
      const int64_t from = structured ? place_of(spec.structure, index, rows, columns) : index;
      const Bits b = from == index || from < 0 ? chunk.bits(i) : bits_of(stream, from);
      const double v = from < 0 ? 0 : value_of(stream, index_bound, from, b);
      chunk.values[static_cast<size_t>(i)] = v;
      sum += v;
    }
    if (simplex)
      for (double& v : chunk.values) v /= sum;
    store_doubles(stream.type, chunk.values.data(), count, data, begin);
  });
}

}  // namespace hone::evaluate
