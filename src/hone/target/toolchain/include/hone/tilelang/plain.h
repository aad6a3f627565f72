// What TileLang's plain lowering calls of its templates, for the emulator: written anew from what each is said to do, with plain loads,
// stores, barriers and shuffles, so that the emulator sees all of it. Matrix units, asynchronous copies and tensor maps are not here:
// plain source has none.
#pragma once

using bfloat16_t = __nv_bfloat16;
using half_t = __half;
using uchar = unsigned char;
using ushort = unsigned short;
using int4_t = int4;

/// Two of them in a word, as HIP source takes it apart.
struct bfloat16x2 {
  bfloat16_t x, y;
};

#ifndef CUDART_INF_F
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#endif
#ifndef HUGE_VALF
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#endif
#define CUDART_INF_FP16 half_t(__builtin_inff())
#define CUDART_INF_BF16 bfloat16_t(__builtin_inff())

template <class T>
__device__ inline unsigned hone_pack16(T x, T y) {
  unsigned short low, high;
  __builtin_memcpy(&low, &x, 2);
  __builtin_memcpy(&high, &y, 2);
  return static_cast<unsigned>(high) << 16 | low;
}
template <class T>
__device__ inline unsigned __pack_half2(T x, T y) { return hone_pack16(x, y); }
template <class T>
__device__ inline unsigned __pack_nv_bfloat162(T x, T y) { return hone_pack16(x, y); }
template <class T>
__device__ inline unsigned __pack_bfloat162(T x, T y) { return hone_pack16(x, y); }

// Functions of 16-bit numbers that CUDA has not got, by float.
#define HONE_TILE_UNARY(T, NAME, F) \
  __device__ inline T NAME(T x) { return T(F(static_cast<float>(x))); }
#define HONE_TILE_BINARY(T, NAME, F) \
  __device__ inline T NAME(T x, T y) { return T(F(static_cast<float>(x), static_cast<float>(y))); }
#define HONE_TILE_16(T)                                                                                                             \
  HONE_TILE_UNARY(T, htan, tanf) HONE_TILE_UNARY(T, hsinh, sinhf) HONE_TILE_UNARY(T, hcosh, coshf) HONE_TILE_UNARY(T, htanh, tanhf) \
  HONE_TILE_UNARY(T, hatan, atanf) HONE_TILE_UNARY(T, herf, erff) HONE_TILE_UNARY(T, hnearbyint, nearbyintf)                        \
  HONE_TILE_UNARY(T, hexp2, exp2f) HONE_TILE_UNARY(T, hlog2, log2f) HONE_TILE_UNARY(T, hlog10, log10f) HONE_TILE_UNARY(T, hsin, sinf) \
  HONE_TILE_UNARY(T, hcos, cosf) HONE_TILE_UNARY(T, hfloor, floorf) HONE_TILE_UNARY(T, hceil, ceilf) HONE_TILE_UNARY(T, htrunc, truncf) \
  HONE_TILE_UNARY(T, hrint, rintf) HONE_TILE_BINARY(T, hpow, powf) HONE_TILE_BINARY(T, hfmod, fmodf)                                \
  HONE_TILE_BINARY(T, max, fmaxf) HONE_TILE_BINARY(T, min, fminf)                                                                   \
  __device__ inline T __hadd_rn(T x, T y) { return x + y; }                                                                         \
  __device__ inline T __hsub_rn(T x, T y) { return x - y; }                                                                         \
  __device__ inline T __hmul_rn(T x, T y) { return x * y; }                                                                         \
  __device__ inline T __hmax_nan(T x, T y) { return x != x ? x : y != y ? y : __hmax(x, y); }                                       \
  __device__ inline T __hmin_nan(T x, T y) { return x != x ? x : y != y ? y : __hmin(x, y); }
HONE_TILE_16(half_t)
HONE_TILE_16(bfloat16_t)
#undef HONE_TILE_16
#undef HONE_TILE_UNARY
#undef HONE_TILE_BINARY

#if HONE_SIMT_WAVE != 64
#include "hone/tilelang/plain_float8.h"
#endif

#include "hone/tilelang/plain_lanes.h"

namespace tl {

/// Of two numbers the larger; of a number and a NaN the number, as the hardware's max has it.
template <class T>
__device__ inline T fast_max(T a, T b) { return a < b ? b : a; }
template <>
__device__ inline float fast_max(float a, float b) { return fmaxf(a, b); }
template <class T>
__device__ inline T fast_min(T a, T b) { return b < a ? b : a; }
template <>
__device__ inline float fast_min(float a, float b) { return fminf(a, b); }

template <class T>
__device__ inline T hone_with_nan(T a, T b, T otherwise) { return a != a ? a : b != b ? b : otherwise; }
/// NaN is handed on, of the number and of either end.
template <class T>
__device__ inline T clamp(T x, T low, T high) {
  const T above = hone_with_nan(x, low, fast_max(x, low));
  return hone_with_nan(above, high, fast_min(above, high));
}
template <class V>
__device__ inline V clamp2(V x, V low, V high) {
  x.x = clamp(x.x, low.x, high.x);
  x.y = clamp(x.y, low.y, high.y);
  return x;
}

struct SumOp { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct MaxOp { template <class T> __device__ T operator()(T a, T b) const { return fast_max(a, b); } };
struct MinOp { template <class T> __device__ T operator()(T a, T b) const { return fast_min(a, b); } };
struct MaxOpNan { template <class T> __device__ T operator()(T a, T b) const { return hone_with_nan(a, b, fast_max(a, b)); } };
struct MinOpNan { template <class T> __device__ T operator()(T a, T b) const { return hone_with_nan(a, b, fast_min(a, b)); } };
struct BitAndOp { template <class T> __device__ T operator()(T a, T b) const { return a & b; } };
struct BitOrOp { template <class T> __device__ T operator()(T a, T b) const { return a | b; } };
struct BitXorOp { template <class T> __device__ T operator()(T a, T b) const { return a ^ b; } };

struct SyncThreadsBarrier {
  template <int phase = 0>
  __device__ static void sync() { __syncthreads(); }
};

#if HONE_SIMT_WAVE == 64
template <class T>
__device__ inline T hone_shuffle_bits(T x, int lane) { return __shfl_xor(x, lane); }
template <class T>
__device__ inline T hone_shuffle_up(T x, int step) { return __shfl_up(x, static_cast<unsigned>(step), 32); }
template <class T>
__device__ inline T hone_shuffle_from(T x, int lane) { return __shfl(x, lane, 32); }
#else
template <class T>
__device__ inline T hone_shuffle_bits(T x, int lane) { return __shfl_xor_sync(0xffffffffu, x, lane); }
template <class T>
__device__ inline T hone_shuffle_up(T x, int step) { return __shfl_up_sync(0xffffffffu, x, static_cast<unsigned>(step)); }
template <class T>
__device__ inline T hone_shuffle_from(T x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
#endif

/// Two packed floats, or 16-bit numbers in a word, go through a shuffle as bits.
template <class T>
__device__ inline T hone_shuffle_xor(T x, int lane) {
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, 8);
    bits = hone_shuffle_bits(bits, lane);
    __builtin_memcpy(&x, &bits, 8);
  } else {
    unsigned bits = 0;
    __builtin_memcpy(&bits, &x, sizeof(T));
    bits = hone_shuffle_bits(bits, lane);
    __builtin_memcpy(&x, &bits, sizeof(T));
  }
  return x;
}

/// Threads whose numbers differ in the digits between `scale` and `threads` get the same result: through shared memory down to a warp,
/// by shuffles within it. `stride` lies between the values of a batch.
#if HONE_SIMT_WAVE == 64
template <class Op, int threads, int scale, int offset = 0, int batch = 1, int stride = 0>
#else
template <class Op, int threads, int scale, int offset = 0, class Barrier = SyncThreadsBarrier, int batch = 1, int stride = 0>
#endif
struct AllReduce {
#if HONE_SIMT_WAVE == 64
  using Barrier = SyncThreadsBarrier;
#endif
  template <class T>
  __device__ static T run(T x, T* shared = nullptr) {
    reduce<1>(&x, shared);
    return x;
  }
  template <class T>
  __device__ static void run_batch(T* x, T* shared = nullptr) { reduce<batch>(x, shared); }

 private:
  template <int values, class T>
  __device__ static void reduce(T* x, T* shared) {
    const int self = static_cast<int>(threadIdx.x) - offset;
    for (int half = threads / 2; half >= scale; half /= 2) {
      if (half >= 32) {
        Barrier::template sync<1>();
        for (int i = 0; i < values; ++i) shared[self + i * stride] = x[i];
        Barrier::template sync<2>();
        for (int i = 0; i < values; ++i) x[i] = Op()(x[i], shared[(self ^ half) + i * stride]);
      } else {
        for (int i = 0; i < values; ++i) x[i] = Op()(x[i], hone_shuffle_xor(x[i], half));
      }
    }
  }
};

template <class T, class Op>
__device__ inline T warp_reduce(T value, Op op) {
  for (int lane = 16; lane > 0; lane /= 2) value = op(value, hone_shuffle_xor(value, lane));
  return value;
}
template <class T>
__device__ inline T warp_reduce_sum(T value) { return warp_reduce(value, SumOp()); }
template <class T>
__device__ inline T warp_reduce_max(T value) { return warp_reduce(value, MaxOp()); }
template <class T>
__device__ inline T warp_reduce_min(T value) { return warp_reduce(value, MinOp()); }
template <class T>
__device__ inline T warp_reduce_bitand(T value) { return warp_reduce(value, BitAndOp()); }
template <class T>
__device__ inline T warp_reduce_bitor(T value) { return warp_reduce(value, BitOrOp()); }

/// An order of blocks: panels of `width` rows (columns), every other one backwards.
template <int width>
__device__ inline dim3 hone_panels(unsigned side, bool by_rows) {
  const unsigned blocks = gridDim.x * gridDim.y, linear = blockIdx.x + blockIdx.y * gridDim.x, size = width * side, within = linear % size, panel = linear / size;
  const unsigned rows = panel + 1 < (blocks + size - 1) / size ? width : (blocks - panel * size) / side;
  const unsigned far = panel % 2 ? side - 1 - within / rows : within / rows, near = within % rows + panel * width;
  return by_rows ? dim3(far, near, blockIdx.z) : dim3(near, far, blockIdx.z);
}
template <int width>
__device__ inline dim3 rasterization2DRow() { return hone_panels<width>(gridDim.x, true); }
template <int width>
__device__ inline dim3 rasterization2DColumn() { return hone_panels<width>(gridDim.y, false); }

/// Inclusive sums (maxima) of a line in shared memory, by one warp. Where a reverse one begins at the line's end.
template <class Op, class T>
__device__ inline void hone_scan_line(const T* from, T* to, int extent, int from_step, int to_step, bool reverse) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  T carry{};
  for (int begin = 0; begin < extent; begin += 32) {
    const int place = begin + lane, at = reverse ? extent - 1 - place : place;
    T value = place < extent ? from[at * from_step] : T{};
    for (int step = 1; step < 32; step *= 2) {
      const T other = hone_shuffle_up(value, step);
      if (lane >= step && place < extent) value = Op()(other, value);
    }
    if (begin > 0) value = Op()(carry, value);
    if (place < extent) to[at * to_step] = value;
    const int last = extent - begin < 32 ? extent - begin - 1 : 31;
    carry = hone_shuffle_from(value, last);
  }
}

template <class Op, int threads, bool reverse>
struct HoneScan1D {
  template <class T, int segment = 32>
  __device__ static void run(const T* from, T* to, int extent) {
    if (threadIdx.x < 32) hone_scan_line<Op>(from, to, extent, 1, 1, reverse);
  }
};
template <class Op, int threads, int axis, bool reverse>
struct HoneScan2D {
  template <class T, int segment = 32>
  __device__ static void run(const T* from, T* to, int height, int width, int from_step, int to_step) {
    const int lines = axis == 1 ? height : width;
    for (int line = static_cast<int>(threadIdx.x) / 32; line < lines; line += threads / 32)
      if constexpr (axis == 1) hone_scan_line<Op>(from + line * from_step, to + line * to_step, width, 1, 1, reverse);
      else hone_scan_line<Op>(from + line, to + line, height, from_step, to_step, reverse);
  }
};
template <int threads, bool reverse = false>
struct CumSum1D : HoneScan1D<SumOp, threads, reverse> {};
template <int threads, int axis = 0, bool reverse = false>
struct CumSum2D : HoneScan2D<SumOp, threads, axis, reverse> {};
template <int threads, bool reverse = false>
struct CumMax1D : HoneScan1D<MaxOp, threads, reverse> {};
template <int threads, int axis = 0, bool reverse = false>
struct CumMax2D : HoneScan2D<MaxOp, threads, axis, reverse> {};

template <class T>
__device__ inline bool Any(const T* a, int size) {
  for (int i = 0; i < size; ++i)
    if (a[i]) return true;
  return false;
}
template <class T>
__device__ inline bool All(const T* a, int size) {
  for (int i = 0; i < size; ++i)
    if (!a[i]) return false;
  return true;
}
template <int power = 1, class T>
__device__ inline T pow_of_int(T x) {
  T all = 1;
  for (int i = 0; i < power; ++i) all = all * x;
  return all;
}

}  // namespace tl

template <class A, class T>
__device__ inline void AtomicAdd(A* address, T value, int = 0) { atomicAdd(address, static_cast<A>(value)); }
template <class A, class T>
__device__ inline A AtomicAddRet(A* address, T value, int = 0) { return atomicAdd(address, static_cast<A>(value)); }
template <class A, class T>
__device__ inline void AtomicMax(A* address, T value, int = 0) { atomicMax(address, static_cast<A>(value)); }
template <class A, class T>
__device__ inline void AtomicMin(A* address, T value, int = 0) { atomicMin(address, static_cast<A>(value)); }
