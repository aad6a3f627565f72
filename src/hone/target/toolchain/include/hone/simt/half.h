// CUDA's and HIP's 16-bit floating types under both vendors' names. Storage of two bytes; arithmetic of one
// operation is rounded once, as the hardware does it.
#pragma once

struct __half {
  uint16_t __x;
  __half() = default;
  inline __half(float v) { const _Float16 h = static_cast<_Float16>(v); __builtin_memcpy(&__x, &h, 2); }
  inline __half(double v) { const _Float16 h = static_cast<_Float16>(v); __builtin_memcpy(&__x, &h, 2); }
  inline __half(int v) : __half(static_cast<float>(v)) {}
  inline __half(unsigned v) : __half(static_cast<float>(v)) {}
  inline __half(long long v) : __half(static_cast<double>(v)) {}
  inline operator float() const { _Float16 h; __builtin_memcpy(&h, &__x, 2); return static_cast<float>(h); }
  inline __half& operator+=(__half b);
  inline __half& operator-=(__half b);
  inline __half& operator*=(__half b);
  inline __half& operator/=(__half b);
};

struct __nv_bfloat16 {
  uint16_t __x;
  __nv_bfloat16() = default;
  inline __nv_bfloat16(float v) {
    uint32_t b;
    __builtin_memcpy(&b, &v, 4);
    __x = v != v ? static_cast<uint16_t>(b >> 16 | 0x40) : static_cast<uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
  inline __nv_bfloat16(double v) : __nv_bfloat16(static_cast<float>(v)) {}
  inline __nv_bfloat16(int v) : __nv_bfloat16(static_cast<float>(v)) {}
  inline __nv_bfloat16(unsigned v) : __nv_bfloat16(static_cast<float>(v)) {}
  inline operator float() const {
    const uint32_t b = static_cast<uint32_t>(__x) << 16;
    float v;
    __builtin_memcpy(&v, &b, 4);
    return v;
  }
  inline __nv_bfloat16& operator+=(__nv_bfloat16 b);
  inline __nv_bfloat16& operator-=(__nv_bfloat16 b);
  inline __nv_bfloat16& operator*=(__nv_bfloat16 b);
  inline __nv_bfloat16& operator/=(__nv_bfloat16 b);
};

using half = __half;
using nv_bfloat16 = __nv_bfloat16;
using __hip_bfloat16 = __nv_bfloat16;
using hip_bfloat16 = __nv_bfloat16;

struct __attribute__((aligned(4))) __half2 { __half x, y; };
struct __attribute__((aligned(4))) __nv_bfloat162 { __nv_bfloat16 x, y; };
using half2 = __half2;
using nv_bfloat162 = __nv_bfloat162;
using __hip_bfloat162 = __nv_bfloat162;

#define HONE_HALF(T, T2)                                                                        \
  inline T operator+(T a, T b) { return T(static_cast<float>(a) + static_cast<float>(b)); }     \
  inline T operator-(T a, T b) { return T(static_cast<float>(a) - static_cast<float>(b)); }     \
  inline T operator*(T a, T b) { return T(static_cast<float>(a) * static_cast<float>(b)); }     \
  inline T operator/(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); }     \
  inline T operator-(T a) { return T(-static_cast<float>(a)); }                                 \
  inline bool operator<(T a, T b) { return static_cast<float>(a) < static_cast<float>(b); }     \
  inline bool operator>(T a, T b) { return static_cast<float>(a) > static_cast<float>(b); }     \
  inline bool operator<=(T a, T b) { return static_cast<float>(a) <= static_cast<float>(b); }   \
  inline bool operator>=(T a, T b) { return static_cast<float>(a) >= static_cast<float>(b); }   \
  inline bool operator==(T a, T b) { return static_cast<float>(a) == static_cast<float>(b); }   \
  inline bool operator!=(T a, T b) { return static_cast<float>(a) != static_cast<float>(b); }   \
  inline T& T::operator+=(T b) { return *this = *this + b; }                                    \
  inline T& T::operator-=(T b) { return *this = *this - b; }                                    \
  inline T& T::operator*=(T b) { return *this = *this * b; }                                    \
  inline T& T::operator/=(T b) { return *this = *this / b; }                                    \
  inline T __hadd(T a, T b) { return a + b; }                                                   \
  inline T __hsub(T a, T b) { return a - b; }                                                   \
  inline T __hmul(T a, T b) { return a * b; }                                                   \
  inline T __hdiv(T a, T b) { return a / b; }                                                   \
  inline T __hneg(T a) { return -a; }                                                           \
  inline T __hfma(T a, T b, T c) {                                                              \
    return T(static_cast<double>(static_cast<float>(a)) * static_cast<float>(b) + static_cast<float>(c)); \
  }                                                                                             \
  inline T __habs(T a) { return T(fabsf(static_cast<float>(a))); }                              \
  inline T __hmax(T a, T b) { return T(fmaxf(static_cast<float>(a), static_cast<float>(b))); }  \
  inline T __hmin(T a, T b) { return T(fminf(static_cast<float>(a), static_cast<float>(b))); }  \
  inline bool __hlt(T a, T b) { return a < b; }                                                 \
  inline bool __hgt(T a, T b) { return a > b; }                                                 \
  inline bool __hle(T a, T b) { return a <= b; }                                                \
  inline bool __hge(T a, T b) { return a >= b; }                                                \
  inline bool __heq(T a, T b) { return a == b; }                                                \
  inline bool __hisnan(T a) { return a != a; }                                                  \
  inline T hexp(T a) { return T(expf(static_cast<float>(a))); }                                 \
  inline T hlog(T a) { return T(logf(static_cast<float>(a))); }                                 \
  inline T hsqrt(T a) { return T(sqrtf(static_cast<float>(a))); }                               \
  inline T hrsqrt(T a) { return T(1.0f / sqrtf(static_cast<float>(a))); }                       \
  inline T2 operator+(T2 a, T2 b) { return {a.x + b.x, a.y + b.y}; }                            \
  inline T2 operator-(T2 a, T2 b) { return {a.x - b.x, a.y - b.y}; }                            \
  inline T2 operator*(T2 a, T2 b) { return {a.x * b.x, a.y * b.y}; }                            \
  inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                               \
  inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                               \
  inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                               \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                \
  inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
HONE_HALF(__half, __half2)
HONE_HALF(__nv_bfloat16, __nv_bfloat162)
#undef HONE_HALF

/// Rounded once, whatever it comes from.
template <class Half, __HoneRound kRound, class From>
inline Half __hone_to_half(From v) {
  const float odd = __hone_odd(v);
  const Half near(odd);
  const float magnitude = fabsf(odd), back = fabsf(static_cast<float>(near));
  return __hone_directed<kRound, unsigned short>(near, back > magnitude, back < magnitude);
}
inline __half __float2half(float v) { return __half(v); }
inline __half __double2half(double v) { return __half(v); }
inline float __half2float(__half v) { return static_cast<float>(v); }
inline __half __ushort_as_half(unsigned short v) { __half h; h.__x = v; return h; }
inline unsigned short __half_as_ushort(__half v) { return v.__x; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
inline float2 __half22float2(__half2 a) { return {static_cast<float>(a.x), static_cast<float>(a.y)}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline float __low2float(__half2 a) { return static_cast<float>(a.x); }
inline float __high2float(__half2 a) { return static_cast<float>(a.y); }

inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
inline float __bfloat162float(__nv_bfloat16 v) { return static_cast<float>(v); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { __nv_bfloat16 h; h.__x = v; return h; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {static_cast<float>(a.x), static_cast<float>(a.y)}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {__nv_bfloat16(a), __nv_bfloat16(a)}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
inline __nv_bfloat16 __double2bfloat16(double v) { return __hone_to_half<__nv_bfloat16, __HoneRound::rn>(v); }

#define HONE_CONVERSIONS(ROUND)                                                                                     \
  inline __half __float2half_##ROUND(float v) { return __hone_to_half<__half, __HoneRound::ROUND>(v); }             \
  inline __nv_bfloat16 __float2bfloat16_##ROUND(float v) { return __hone_to_half<__nv_bfloat16, __HoneRound::ROUND>(v); }
HONE_CONVERSIONS(rn) HONE_CONVERSIONS(rd) HONE_CONVERSIONS(ru) HONE_CONVERSIONS(rz)
#undef HONE_CONVERSIONS
#define HONE_CONVERSIONS_OF(INTEGER, T, HALF, NAME, ROUND)                                                          \
  inline INTEGER __##NAME##2##T##_##ROUND(HALF v) { return __hone_to_integer<INTEGER, __HoneRound::ROUND>(static_cast<float>(v)); } \
  inline HALF __##T##2##NAME##_##ROUND(INTEGER v) { return __hone_to_half<HALF, __HoneRound::ROUND>(v); }
#define HONE_CONVERSIONS(INTEGER, T, HALF, NAME) \
  HONE_CONVERSIONS_OF(INTEGER, T, HALF, NAME, rn) HONE_CONVERSIONS_OF(INTEGER, T, HALF, NAME, rd) \
  HONE_CONVERSIONS_OF(INTEGER, T, HALF, NAME, ru) HONE_CONVERSIONS_OF(INTEGER, T, HALF, NAME, rz)
#define HONE_CONVERSIONS_OF_HALVES(HALF, NAME)                                                              \
  HONE_CONVERSIONS(int, int, HALF, NAME) HONE_CONVERSIONS(unsigned, uint, HALF, NAME)                       \
  HONE_CONVERSIONS(short, short, HALF, NAME) HONE_CONVERSIONS(unsigned short, ushort, HALF, NAME)           \
  HONE_CONVERSIONS(long long, ll, HALF, NAME) HONE_CONVERSIONS(unsigned long long, ull, HALF, NAME)
HONE_CONVERSIONS_OF_HALVES(__half, half)
HONE_CONVERSIONS_OF_HALVES(__nv_bfloat16, bfloat16)
#undef HONE_CONVERSIONS_OF_HALVES
#undef HONE_CONVERSIONS
#undef HONE_CONVERSIONS_OF

inline __half atomicAdd(__half* p, __half v) { return hone::simt::modify(p, [v](__half old) { return old + v; }); }
inline __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) { return hone::simt::modify(p, [v](__nv_bfloat16 old) { return old + v; }); }
