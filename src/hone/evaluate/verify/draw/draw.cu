/* hone
language = "cuda"
note     = "the grader's own: draws inputs where they lie"
[[launch]]
kernel = "draw_values"
grid   = ["1"]
block  = ["256"]
args   = ["y", "i64:N", "i32:N", "i64:N", "i32:N", "i32:N", "i32:N", "i32:N"]
[[launch]]
kernel = "draw_indices"
grid   = ["1"]
block  = ["256"]
args   = ["y", "i64:N", "i32:N", "i64:N", "i32:N", "i64:N"]
[[launch]]
kernel = "zero_slab"
grid   = ["1"]
block  = ["256"]
args   = ["y", "i64:N", "i32:N", "i64:N", "i64:N", "i64:N"]
[[launch]]
kernel = "zero_triangle"
grid   = ["1"]
block  = ["256"]
args   = ["y", "i32:N", "i64:N", "i64:N", "i32:N"]
[[launch]]
kernel = "mirror_triangle"
grid   = ["1"]
block  = ["256"]
args   = ["y", "i32:N", "i64:N"]
*/
// What draw() of inputs.cc does, on a card and to the same bits. Launched by hone's own process (draw_card.cc), never
// beside a candidate; the plan above only names what there is and how many arguments it takes.

// As in inputs.h, draw_kernels.h and types.h: launches give them by number.
enum class Family { kNormal, kUniform, kLarge, kSparse, kShifted, kMantissa, kInteger, kNonFinite };
enum class DrawKind { kReal, kPositive, kUnitInterval, kNearOne, kSign, kTruth, kWhole, kPositiveWhole };
enum class Type { kF64, kF32, kBF16, kF16, kF8E4M3, kF8E5M2, kI64, kI32, kI16, kI8, kBool };
enum class Stream { kValue, kOther };

struct Recipe {
  uint64_t key;
  Family family;
  DrawKind kind;
  bool f16;
  float centre;
};

/// A float whose operations are rounded one by one, as the host's are. Of plain floats the compiler would make fused
/// multiply-adds, which round once where the host rounds twice: other bits in every tenth value.
struct Float {
  float v;
  Float() = default;
  __device__ __forceinline__ Float(float value) : v(value) {}
};
__device__ __forceinline__ Float operator+(Float a, Float b) { return __fadd_rn(a.v, b.v); }
__device__ __forceinline__ Float operator-(Float a, Float b) { return __fsub_rn(a.v, b.v); }
__device__ __forceinline__ Float operator*(Float a, Float b) { return __fmul_rn(a.v, b.v); }
__device__ __forceinline__ Float operator/(Float a, Float b) { return __fdiv_rn(a.v, b.v); }
__device__ __forceinline__ bool operator<(Float a, Float b) { return a.v < b.v; }
__device__ __forceinline__ bool operator>(Float a, Float b) { return a.v > b.v; }

#define HONE_DRAW_FUNCTION __device__ __forceinline__
HONE_DRAW_FUNCTION Float as_float(uint32_t bits) { return __uint_as_float(bits); }
HONE_DRAW_FUNCTION uint32_t as_bits(Float v) { return __float_as_uint(v.v); }
HONE_DRAW_FUNCTION Float pick(bool condition, Float a, Float b) { return condition ? a.v : b.v; }
HONE_DRAW_FUNCTION Float of_int(int32_t i) { return __int2float_rn(i); }
HONE_DRAW_FUNCTION int32_t to_int(Float v) { return __float2int_rz(v.v); }
HONE_DRAW_FUNCTION Float root_of(Float v) { return __fsqrt_rn(v.v); }
#include "draw_formulas.inc"

/// Counters of a block, one a thread, and elements: thread i makes elements i, 256 + i, 512 + i and 768 + i, so that
/// a warp's stores are to neighbours. As kDrawCounters and kDrawBlock in draw_kernels.h.
constexpr int kCounters = 256, kBlock = 4 * kCounters;

/// Four words of a counter, as base::philox gives them.
HONE_DRAW_FUNCTION void philox(uint64_t key, uint64_t counter, Stream stream, uint32_t* w) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = (uint32_t)stream, c3 = 0;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  w[0] = c0, w[1] = c1, w[2] = c2, w[3] = c3;
}

/// This thread's part of a block: a counter's words, and their values.
struct Quad {
  uint64_t key, counter;
  uint32_t w[4];
  Float y[4];

  HONE_DRAW_FUNCTION Quad(uint64_t of_key) : key(of_key), counter((uint64_t)blockIdx.x * kCounters + threadIdx.x) {
    philox(key, counter, Stream::kValue, w);
  }
  template <class F>
  HONE_DRAW_FUNCTION void from_words(F f) {
    for (int k = 0; k < 4; ++k) y[k] = f(w[k]);
  }
  template <class F>
  HONE_DRAW_FUNCTION void change(F f) {
    for (int k = 0; k < 4; ++k) y[k] = f(y[k]);
  }
  template <class F>
  HONE_DRAW_FUNCTION void change_by_words(F f) {
    for (int k = 0; k < 4; ++k) y[k] = f(w[k], y[k]);
  }
  HONE_DRAW_FUNCTION void normals() { normals_of(w); }
  HONE_DRAW_FUNCTION void other_normals() {
    uint32_t others[4];
    philox(key, counter, Stream::kOther, others);
    normals_of(others);
  }
  HONE_DRAW_FUNCTION void normals_of(const uint32_t* from) {
    normal_pair(from[0], from[1], y[0], y[1]);
    normal_pair(from[2], from[3], y[2], y[3]);
  }
};

/// Element k of four that this thread makes.
HONE_DRAW_FUNCTION int64_t element_of(int k) { return (int64_t)blockIdx.x * kBlock + k * kCounters + threadIdx.x; }

/// As store() of inputs.cc. Whole numbers go through 32 bits, as a float beyond i8 would be clamped otherwise.
template <class T>
HONE_DRAW_FUNCTION void store_whole(void* to, int64_t total, const Float* y) {
  for (int k = 0; k < 4; ++k)
    if (element_of(k) < total) ((T*)to)[element_of(k)] = (T)to_int(y[k]);
}
template <class T, class Convert>
HONE_DRAW_FUNCTION void store_as(void* to, int64_t total, const Float* y, Convert convert) {
  for (int k = 0; k < 4; ++k)
    if (element_of(k) < total) ((T*)to)[element_of(k)] = convert(y[k]);
}

/// `total` elements of `type` at `to`. A block of threads a block of elements.
extern "C" __global__ void __launch_bounds__(kCounters) draw_values(void* to, int64_t total, int32_t type, uint64_t key, int32_t family,
                                                                    int32_t kind, int32_t f16, int32_t centre_bits) {
  const Recipe recipe{key, (Family)family, (DrawKind)kind, f16 != 0, __int_as_float(centre_bits)};
  Quad quad(key);
  values_of(recipe, quad);
  switch ((Type)type) {
    case Type::kF32: return store_as<float>(to, total, quad.y, [](Float v) { return v.v; });
    case Type::kF16: return store_as<uint16_t>(to, total, quad.y, [](Float v) { return f16_bits(v); });
    case Type::kBF16: return store_as<uint16_t>(to, total, quad.y, [](Float v) { return bf16_bits(v); });
    case Type::kI64: return store_whole<int64_t>(to, total, quad.y);
    case Type::kI32: return store_whole<int32_t>(to, total, quad.y);
    case Type::kI16: return store_whole<int16_t>(to, total, quad.y);
    case Type::kI8: return store_whole<int8_t>(to, total, quad.y);
    case Type::kBool: return store_whole<uint8_t>(to, total, quad.y);
    case Type::kF64: return;  // drawn on the host
  }
}

/// fraction * n / 2^32: the host has 128 bits for it.
HONE_DRAW_FUNCTION uint64_t scaled(uint32_t fraction, uint64_t n) {
  return fraction * (n >> 32) + ((fraction * (n & 0xFFFFFFFFu)) >> 32);
}

/// As index_of() of inputs.cc.
HONE_DRAW_FUNCTION uint64_t index_of(Family family, uint64_t n, uint32_t word, uint64_t element) {
  constexpr uint32_t kRepeated = 3435973836u;  // four fifths of 2^32
  switch (family) {
    case Family::kLarge: return (word & 1) != 0 ? 0 : n - 1;
    case Family::kSparse: return word < kRepeated ? 0 : scaled((word - kRepeated) * 5, n);
    case Family::kShifted: return n - 1 - scaled((uint32_t)(((uint64_t)word * word) >> 32), n) / 8;
    case Family::kInteger: return element % n;
    default: return scaled(word, n);
  }
}

template <class T>
HONE_DRAW_FUNCTION void store_indices(T* to, int64_t total, const uint32_t* w, Family family, uint64_t bound) {
  for (int k = 0; k < 4; ++k)
    if (element_of(k) < total) to[element_of(k)] = (T)index_of(family, bound, w[k], (uint64_t)element_of(k));
}

/// Indices below `bound`, which the type holds.
extern "C" __global__ void __launch_bounds__(kCounters) draw_indices(void* to, int64_t total, int32_t type, uint64_t key, int32_t family,
                                                                     uint64_t bound) {
  const Quad quad(key);
  switch ((Type)type) {
    case Type::kI64: return store_indices((int64_t*)to, total, quad.w, (Family)family, bound);
    case Type::kI32: return store_indices((int32_t*)to, total, quad.w, (Family)family, bound);
    case Type::kI16: return store_indices((int16_t*)to, total, quad.w, (Family)family, bound);
    case Type::kI8: return store_indices((int8_t*)to, total, quad.w, (Family)family, bound);
    default: return;
  }
}

// ---- structure: zeros and copies, of elements of `width` bytes ----

HONE_DRAW_FUNCTION void zero(void* to, int width, int64_t element) {
  if (width == 8) ((uint64_t*)to)[element] = 0;
  if (width == 4) ((uint32_t*)to)[element] = 0;
  if (width == 2) ((uint16_t*)to)[element] = 0;
  if (width == 1) ((uint8_t*)to)[element] = 0;
}

/// Elements whose index along an axis is `index`: (element / stride) % extent. A thread each, `total` / `extent` in all.
extern "C" __global__ void __launch_bounds__(kCounters) zero_slab(void* to, int64_t total, int32_t width, int64_t stride, int64_t extent,
                                                                  int64_t index) {
  const int64_t i = (int64_t)blockIdx.x * kCounters + threadIdx.x;
  if (i < total / extent) zero(to, width, (i / stride * extent + index) * stride + i % stride);
}

/// What lies outside a triangle: below the diagonal where the upper one is kept. A block a row, of all matrices.
extern "C" __global__ void __launch_bounds__(kCounters) zero_triangle(void* to, int32_t width, int64_t rows, int64_t columns,
                                                                      int32_t upper) {
  const int64_t row = blockIdx.x % rows;
  const int64_t begin = upper ? 0 : row + 1, end = upper && row < columns ? row : columns;
  for (int64_t column = begin + threadIdx.x; column < end; column += kCounters) zero(to, width, blockIdx.x * columns + column);
}

template <class T>
HONE_DRAW_FUNCTION void mirror_row(T* matrix, int64_t n, int64_t row) {
  for (int64_t column = threadIdx.x; column < row; column += kCounters) matrix[row * n + column] = matrix[column * n + row];
}

/// Copies upper triangles of n x n matrices over the lower ones. A block a row, of all matrices.
extern "C" __global__ void __launch_bounds__(kCounters) mirror_triangle(void* to, int32_t width, int64_t n) {
  const int64_t row = blockIdx.x % n, first = blockIdx.x / n * n * n;
  if (width == 8) mirror_row((uint64_t*)to + first, n, row);
  if (width == 4) mirror_row((uint32_t*)to + first, n, row);
  if (width == 2) mirror_row((uint16_t*)to + first, n, row);
  if (width == 1) mirror_row((uint8_t*)to + first, n, row);
}
