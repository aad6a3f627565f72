#include "hone/evaluate/verify/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/draw/draw_tensor.h"
#include "hone/evaluate/parallel.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::InputSpec;
using task::Shape;
using task::Structure;

/// Elements that a thread draws at a time: whole blocks, within the second-level cache.
constexpr int64_t kDrawPart = 8 * kDrawBlock;
/// Rows and columns mirrored at a time.
constexpr int64_t kTile = 32;

/// A tensor being drawn into memory.
struct TensorToFill : DrawnTensor {
  uint8_t* data;

  [[nodiscard]] uint8_t* at(int64_t element) const { return data + element * task::size_of(type); }
};

/// An index from a random word (`element` of the tensor): below the bound.
uint64_t index_of(const TensorToFill& t, uint32_t word, int64_t element) {
  const uint64_t n = t.bound;
  const auto scaled = [n](uint64_t fraction) {  // of 2^32
    return static_cast<uint64_t>((static_cast<unsigned __int128>(fraction) * n) >> 32);
  };
  constexpr uint32_t kRepeated = 3435973836;  // four fifths of 2^32
  switch (t.recipe.family) {
    case Family::kLarge: return (word & 1) != 0 ? 0 : n - 1;  // both ends
    case Family::kSparse: return word < kRepeated ? 0 : scaled(uint64_t{word - kRepeated} * 5);
    case Family::kShifted: return n - 1 - scaled((uint64_t{word} * word) >> 32) / 8;
    case Family::kInteger: return static_cast<uint64_t>(element) % n;  // in order
    default: return scaled(word);
  }
}

/// A whole number from t.least to t.most, from two random words: the ends and what lies beside them, powers of two and their
/// neighbours, all magnitudes alike, all numbers alike.
int64_t wide_integer(const TensorToFill& t, uint32_t word, uint32_t other) {
  const uint64_t range = static_cast<uint64_t>(t.most - t.least) + 1;
  const uint64_t random = (uint64_t{other} << 28) ^ (word >> 4);
  const auto within = [&](int64_t v) { return std::clamp(v, t.least, t.most); };
  const int bits = std::bit_width(static_cast<uint64_t>(t.most));
  const int64_t power = int64_t{1} << (other % static_cast<uint32_t>(bits)), sign = (other >> 31) != 0 && t.least < 0 ? -1 : 1;
  // In every second draw half of the numbers are ends: where several have to meet, they do.
  if ((t.manner & 4) != 0 && (word & 32) != 0) return (word & 64) != 0 ? t.least : t.most;
  switch (word & 15) {
    case 0: return t.least;
    case 1: return t.most;
    case 2: return within(t.least + static_cast<int64_t>(random % 3));
    case 3: return within(t.most - static_cast<int64_t>(random % 3));
    case 4:
    case 5: return within(sign * (power + static_cast<int64_t>(random % 3) - 1));
    case 6:
    case 7:
    case 8:
    case 9: return within(sign * (power + static_cast<int64_t>(random & static_cast<uint64_t>(power - 1))));
    default: return t.least + static_cast<int64_t>(random % range);
  }
}

/// Of either sign, with no bits set beside the quiet one or with all: others are poison's, and a kernel may hand a NaN on as it is.
/// Types of 16 bits have one only: what is converted keeps no more.
template <class T>
T nan_with(DType type, uint64_t random, T plain) {
  if (type == DType::kF16 || type == DType::kBF16) return plain;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1), kQuiet = Bits{1} << (sizeof(T) == 4 ? 22 : 51);
  return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(plain) | (random % 2 == 0 ? kQuiet - 1 : 0) | (random % 4 < 2 ? kSign : 0)));
}

/// Puts NaN and infinities in: row by row another way, or one alone in the whole tensor.
template <class T>
void put_in_non_finite(const TensorToFill& t, T* values, int64_t first, int64_t count) {
  constexpr T kInf = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  const bool positive = t.recipe.kind == DrawKind::kPositive;
  const auto kind = [&](uint64_t which, bool only_infinities) {
    const uint64_t payload = which / 3;
    if (!only_infinities && nan_by(which)) return nan_with<T>(t.type, payload, kNan);
    return which % (only_infinities ? 2 : 3) == 1 || positive ? kInf : -kInf;
  };
  const bool only_infinities = t.only_infinities();
  // Zeros meet them then: 0 times infinity.
  const bool with_zeros = !positive && (t.manner >> 30) != 0;
  if (t.one_alone()) {
    const uint64_t random = t.bits_beside(0);
    const auto at = random >> 62 == 0 ? t.total - 1 : static_cast<int64_t>(random % static_cast<uint64_t>(t.total));
    if (at >= first && at < first + count) values[at - first] = kind(t.manner >> 2, false);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t element = first + i, period = t.lines.stride * t.lines.extent;
    const int64_t line = element / period * t.lines.stride + element % t.lines.stride, place = element / t.lines.stride % t.lines.extent;
    const uint64_t of_line = t.bits_beside(static_cast<uint64_t>(line));
    if (with_zeros && t.bits_beside(static_cast<uint64_t>(element) + (uint64_t{1} << 61)) % 8 == 0) values[i] = (element & 1) != 0 ? T{0} : -T{0};
    switch (of_line & 7) {
      case 0:
      case 1: break;
      case kLineHasOne:
      case kLineHasOne + 1:
        if (place == t.place_of_one(of_line)) values[i] = kind(of_line >> 8, only_infinities);
        break;
      case kLineHasAll:
      case kLineHasAll + 1: values[i] = kind(of_line >> 8, only_infinities); break;
      case kLineHasSome: {
        if (t.bits_beside(static_cast<uint64_t>(element) + (uint64_t{1} << 62)) % 4 == 0) values[i] = kind(of_line >> 8, only_infinities);
        break;
      }
      case kLineHasMixture: {
        const uint64_t random = t.bits_beside(static_cast<uint64_t>(element) + (uint64_t{1} << 62));
        if (random % 4 == 0) values[i] = kind(random >> 8, only_infinities);
      }
    }
  }
}

/// Zeros `values`, which start at element `first`, outside their triangle.
template <class T>
void keep_triangle(const TensorToFill& t, T* values, int64_t first, int64_t count) {
  if (t.structure != Structure::kTriu && t.structure != Structure::kTril) return;
  for (int64_t row_start = first - first % t.columns; row_start < first + count; row_start += t.columns) {
    const int64_t row = row_start / t.columns % t.rows;
    const bool upper = t.structure == Structure::kTriu;
    const int64_t begin = row_start + (upper ? 0 : std::min(row + 1, t.columns));
    const int64_t end = row_start + (upper ? std::min(row, t.columns) : t.columns);
    const int64_t from = std::max(begin, first), to = std::min(end, first + count);
    if (from < to) std::fill(values + (from - first), values + (to - first), T{0});
  }
}

template <class T>
void zero_slabs(const TensorToFill& t, T* values, int64_t first, int64_t count) {
  for (const Slab& slab : t.slabs) {
    const int64_t period = slab.stride * slab.extent;
    for (int64_t begin = first / period * period + slab.index * slab.stride; begin < first + count; begin += period) {
      const int64_t from = std::max(begin, first), to = std::min(begin + slab.stride, first + count);
      if (from < to) std::fill(values + (from - first), values + (to - first), T{0});
    }
  }
}

/// Scales whole rows to a sum of one.
template <class T>
void normalise(const TensorToFill& t, T* values, int64_t count) {
  constexpr T kSmall = T{0x1p-8};  // what a positive domain makes of the sparse family's zeros is below
  for (T* row = values; row < values + count; row += t.columns) {
    if (t.zeros_in_simplex && *std::max_element(row, row + t.columns) >= kSmall)
      std::replace_if(row, row + t.columns, [](T v) { return v < kSmall; }, T{0});
    double sum = 0;
    for (int64_t i = 0; i < t.columns; ++i) sum += static_cast<double>(row[i]);
    if (sum == 0) continue;  // all outside the triangle
    const T factor = static_cast<T>(1 / sum);
    for (int64_t i = 0; i < t.columns; ++i) row[i] *= factor;
  }
}

template <class T>
void finish_values(const TensorToFill& t, T* values, int64_t first, int64_t count) {
  if (t.non_finite) put_in_non_finite(t, values, first, count);
  keep_triangle(t, values, first, count);
  zero_slabs(t, values, first, count);
  if (t.nonzero) std::replace(values, values + count, T{0}, T{1});
  if (t.simplex) normalise(t, values, count);
}

template <class T>
void convert(const float* values, int64_t count, uint8_t* to) {
  T* out = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(values[i]);
}

/// What is not finite is NaN, any of them: a cast to these types saturates, so that of an infinity nobody could say what becomes of it
/// on its way through a kernel. What is no zero does not become one: denormals of other types become denormals here.
void store_f8(DType type, const float* values, int64_t count, uint8_t* to) {
  const double least = 2 * task::smallest_normal(type) * task::unit_roundoff(type);
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(values[i]);
    const auto steps = static_cast<int>(bits % 3) + 1;
    double value = values[i];
    if (!std::isfinite(value)) {
      const int which = std::isinf(value) ? 0x7D : (bits & 1) == 0 ? 0x7E : 0x7F;
      to[i] = static_cast<uint8_t>((std::signbit(value) ? 0x80 : 0) | (type == DType::kF8E4M3 ? 0x7F : which));
      continue;
    }
    if (value != 0 && std::abs(value) < least) value = std::copysign(steps * least, value);
    store_doubles(type, &value, 1, to, i);
  }
}

/// Writes values, all of which the type holds or rounds to something finite.
void store(DType type, const float* values, int64_t count, uint8_t* to) {
  switch (type) {
    case DType::kF32: std::memcpy(to, values, static_cast<size_t>(count) * sizeof(float)); return;
    case DType::kF16: return draw_kernels().to_f16(values, count, reinterpret_cast<uint16_t*>(to));
    case DType::kBF16: return draw_kernels().to_bf16(values, count, reinterpret_cast<uint16_t*>(to));
    case DType::kF8E4M3:
    case DType::kF8E5M2: return store_f8(type, values, count, to);
    case DType::kF64: return convert<double>(values, count, to);
    case DType::kI64: return convert<int64_t>(values, count, to);
    case DType::kI32: return convert<int32_t>(values, count, to);
    case DType::kI16: return convert<int16_t>(values, count, to);
    case DType::kI8: return convert<int8_t>(values, count, to);
    case DType::kBool: return convert<uint8_t>(values, count, to);
  }
}

/// Draws elements first .. first + count. Blocks are drawn whole, so what sticks out at either end is
/// drawn in vain.
void draw_part(const TensorToFill& t, int64_t first, int64_t count) {
  const int64_t begin = first / kDrawBlock, end = (first + count + kDrawBlock - 1) / kDrawBlock;
  const int64_t skipped = first - begin * kDrawBlock;
  const auto room = static_cast<size_t>((end - begin) * kDrawBlock);
  const DrawKernels& kernels = draw_kernels();
  thread_local std::vector<float> values;
  thread_local std::vector<double> wide;
  if (t.index || t.least < t.most) {
    wide.resize(room);
    uint32_t words[kDrawBlock], others[kDrawBlock];
    for (int64_t block = begin; block < end; ++block) {
      kernels.words(t.recipe.key, DrawStream::kValue, static_cast<uint64_t>(block), words);
      if (!t.index) kernels.words(t.recipe.key, DrawStream::kOther, static_cast<uint64_t>(block), others);
      double* to = wide.data() + (block - begin) * kDrawBlock;
      for (int64_t i = 0; i < kDrawBlock; ++i)
        to[i] = t.index ? static_cast<double>(index_of(t, words[i], block * kDrawBlock + i)) : static_cast<double>(wide_integer(t, words[i], others[i]));
    }
    finish_values(t, wide.data() + skipped, first, count);
    store_doubles(t.type, wide.data() + skipped, count, t.data, first);
    return;
  }
  values.resize(room);
  for (int64_t block = begin; block < end; ++block)
    kernels.values(t.recipe, static_cast<uint64_t>(block), values.data() + (block - begin) * kDrawBlock);
  if (t.type != DType::kF64) {
    finish_values(t, values.data() + skipped, first, count);
    store(t.type, values.data() + skipped, count, t.at(first));
    return;
  }
  wide.resize(room);
  for (int64_t block = begin; block < end; ++block) {
    const int64_t at = (block - begin) * kDrawBlock;
    kernels.refine(t.recipe, static_cast<uint64_t>(block), values.data() + at, wide.data() + at);
  }
  finish_values(t, wide.data() + skipped, first, count);
  std::memcpy(t.at(first), wide.data() + skipped, static_cast<size_t>(count) * sizeof(double));
}

/// Copies the upper triangles over the lower ones, a band of rows of one matrix.
template <class T>
void mirror(const TensorToFill& t, int64_t band) {
  const int64_t n = t.rows, bands = (n + kTile - 1) / kTile;
  T* matrix = reinterpret_cast<T*>(t.data) + band / bands * n * n;
  const int64_t top = band % bands * kTile, bottom = std::min(top + kTile, n);
  for (int64_t left = 0; left < bottom; left += kTile)
    for (int64_t i = top; i < bottom; ++i)
      for (int64_t j = left; j < std::min(left + kTile, i); ++j) matrix[i * n + j] = matrix[j * n + i];
}

void mirror_band(const TensorToFill& t, int64_t band) {
  switch (task::size_of(t.type)) {
    case 1: return mirror<uint8_t>(t, band);
    case 2: return mirror<uint16_t>(t, band);
    case 4: return mirror<uint32_t>(t, band);
    default: return mirror<uint64_t>(t, band);
  }
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
    case Family::kNonFinite: return "non-finite";
  }
  return "?";
}

void draw(const InputSpec& spec, const Shape& shape, const DrawBounds& bounds, Family family,
          uint64_t seed, void* data, int threads, const std::vector<Segment>* only) {
  if (is_known(spec, shape)) {
    const std::string& bytes = *spec.values->bytes;
    const auto element = static_cast<size_t>(task::size_of(spec.type.dtype));
    const std::vector<Segment> all{{0, task::element_count(shape)}};
    for (const Segment& s : only ? *only : all)
      std::memcpy(static_cast<char*>(data) + static_cast<size_t>(s.begin) * element, bytes.data() + static_cast<size_t>(s.begin) * element, static_cast<size_t>(s.end - s.begin) * element);
    return;
  }
  const TensorToFill t{drawn_tensor(spec, shape, bounds, family, seed), static_cast<uint8_t*>(data)};
  if (t.total == 0) return;
  // A simplex is drawn in whole rows, so that each part can be normalised where it is drawn.
  const int64_t grain = t.simplex ? std::max<int64_t>(kDrawPart / t.columns, 1) * t.columns : kDrawPart;
  const int64_t count = (t.total + grain - 1) / grain;
  std::vector<uint8_t> wanted(static_cast<size_t>(count), !only || t.mirrored());
  if (only)
    for (const Segment& s : *only)
      std::fill(wanted.begin() + s.begin / grain, wanted.begin() + (s.end + grain - 1) / grain, uint8_t{1});
  parallel_for(count, threads, [&](int64_t part) {
    if (wanted[static_cast<size_t>(part)]) draw_part(t, part * grain, std::min(grain, t.total - part * grain));
  });
  if (!t.mirrored()) return;
  const int64_t bands = (t.rows + kTile - 1) / kTile;
  parallel_for(t.total / (t.rows * t.columns) * bands, threads, [&](int64_t band) { mirror_band(t, band); });
}

}  // namespace hone::evaluate
