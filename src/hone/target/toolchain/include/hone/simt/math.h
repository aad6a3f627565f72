// Device functions of CUDA and HIP beside those of <math.h>: intrinsics, bits, conversions, cached loads. The emulator's,
// and those of real HIP builds (hone/hip).
#pragma once

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float exp10f(float x) { return static_cast<float>(pow(10.0, x)); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
#if defined(HONE_SIMT_WAVE)
// A card's fast functions, about as far off as NVIDIA says that they are (CUDA C++ Programming Guide, "Intrinsic Functions"): who takes
// one where accuracy is asked for is told so on the emulator too. Their last bits are no particular card's.
inline float hone_on_grid(double v, double step) { return static_cast<float>(rint(v / step) * step); }
inline float __expf(float x) { return exp2f(x * 1.44269504f); }  // the product is rounded: 2 + 1.17 |x| units in the last place
inline float __exp10f(float x) { return exp2f(x * 3.32192809f); }
inline float __log2f(float x) {
  const double v = log2(static_cast<double>(x));
  return x >= 0.5f && x <= 2.0f ? hone_on_grid(v, 0x1p-21) : static_cast<float>(v);
}
inline float __logf(float x) { return __log2f(x) * 0.693147181f; }
inline float __log10f(float x) { return __log2f(x) * 0.301029996f; }
inline float __powf(float x, float y) { return exp2f(y * __log2f(x)); }
/// What is left of x in turns, whose number is rounded: large angles are lost.
inline double hone_angle(float x) {
  const float turns = x * 0.159154943f;
  return 6.283185307179586 * (static_cast<double>(turns) - rint(static_cast<double>(turns)));
}
inline float __sinf(float x) { return hone_on_grid(sin(hone_angle(x)), 0x1p-21); }
inline float __cosf(float x) { return hone_on_grid(cos(hone_angle(x)), 0x1p-21); }
inline float __tanf(float x) { return __sinf(x) / __cosf(x); }
inline float __tanhf(float x) {
  int bits;
  const double v = tanh(static_cast<double>(x)), share = frexp(v, &bits);
  return static_cast<float>(ldexp(rint(share * 2048), bits - 11));
}
inline float __fdividef(float a, float b) { return fabsf(b) > 0x1p126f && fabsf(b) <= 3.402823466e38f ? a * 0.0f : a * (1.0f / b); }
#else
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return expf(x * 2.302585093f); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline float __fdividef(float a, float b) { return a / b; }
#endif
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __frsqrt_rn(float a) { return 1.0f / sqrtf(a); }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __ddiv_rn(double a, double b) { return a / b; }
// Rounded by themselves: never contracted into a fused operation, neither with what comes before nor with what comes
// after. On the emulator's processor the compiler's last stages fuse whatever they see side by side, pragma or not: so they
// see neither where operands come from nor where the result goes.
#if defined(HONE_SIMT_WAVE)
template <class T>
inline T hone_hidden(T v) {
#if defined(__x86_64__)
  __asm__("" : "+x"(v));
  return v;
#elif defined(__aarch64__)
  __asm__("" : "+w"(v));
  return v;
#else
  volatile T r = v;
  return r;
#endif
}
#define HONE_ALONE(T, EXPRESSION) { a = hone_hidden(a); b = hone_hidden(b); return hone_hidden<T>(EXPRESSION); }
#else
#define HONE_ALONE(T, EXPRESSION) { _Pragma("clang fp contract(off)") return EXPRESSION; }
#endif
inline float __fadd_rn(float a, float b) HONE_ALONE(float, a + b)
inline float __fsub_rn(float a, float b) HONE_ALONE(float, a - b)
inline float __fmul_rn(float a, float b) HONE_ALONE(float, a * b)
inline double __dadd_rn(double a, double b) HONE_ALONE(double, a + b)
inline double __dsub_rn(double a, double b) HONE_ALONE(double, a - b)
inline double __dmul_rn(double a, double b) HONE_ALONE(double, a * b)
#undef HONE_ALONE
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
inline float erfcxf(float x) { return expf(x * x) * erfcf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
inline float sinpif(float x) { return static_cast<float>(sin(3.14159265358979323846 * x)); }
inline float cospif(float x) { return static_cast<float>(cos(3.14159265358979323846 * x)); }
inline float fdividef(float a, float b) { return a / b; }

// exp(float) and its kin: <math.h> of C++ has the overloads, as both vendors have them.

// Of two integers of different types what C++ makes of them in a sum, as both vendors have it: of int and unsigned that is
// unsigned.
#define HONE_MINMAX(T)                                     \
  constexpr T min(T a, T b) { return b < a ? b : a; }      \
  constexpr T max(T a, T b) { return a < b ? b : a; }
HONE_MINMAX(int) HONE_MINMAX(unsigned) HONE_MINMAX(long) HONE_MINMAX(unsigned long) HONE_MINMAX(long long) HONE_MINMAX(unsigned long long)
#undef HONE_MINMAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
template <class A, class B>
  requires(std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, B>)
constexpr std::common_type_t<A, B> min(A a, B b) { using T = std::common_type_t<A, B>; return min(static_cast<T>(a), static_cast<T>(b)); }
template <class A, class B>
  requires(std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, B>)
constexpr std::common_type_t<A, B> max(A a, B b) { using T = std::common_type_t<A, B>; return max(static_cast<T>(a), static_cast<T>(b)); }
inline double min(float a, double b) { return fmin(static_cast<double>(a), b); }
inline double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
inline double max(float a, double b) { return fmax(static_cast<double>(a), b); }
inline double max(double a, float b) { return fmax(a, static_cast<double>(b)); }
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
inline unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= static_cast<unsigned>(both >> (8 * (s >> 4 * i & 7)) & 0xff) << 8 * i;
  return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? hi << n | lo >> (32 - n) : hi; }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? lo >> n | hi << (32 - n) : lo; }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
inline unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a) : static_cast<unsigned>(a) - static_cast<unsigned>(b)); }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}
template <class To, class From>
inline To __hone_bits(From v) { To r; static_assert(sizeof r == sizeof v); __builtin_memcpy(&r, &v, sizeof r); return r; }
inline int __float_as_int(float v) { return __hone_bits<int>(v); }
inline unsigned __float_as_uint(float v) { return __hone_bits<unsigned>(v); }
inline float __int_as_float(int v) { return __hone_bits<float>(v); }
inline float __uint_as_float(unsigned v) { return __hone_bits<float>(v); }
inline long long __double_as_longlong(double v) { return __hone_bits<long long>(v); }
inline double __longlong_as_double(long long v) { return __hone_bits<double>(v); }
#include "hone/simt/convert.h"

template <class T> inline T __ldg(const T* p) {
  hone_simt_read_only(p, sizeof(T));
  return *p;
}
template <class T> inline T __ldca(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
template <class T> inline T __ldcg(const T* p) { return *p; }
template <class T> inline T __ldlu(const T* p) { return *p; }
template <class T> inline T __ldcv(const T* p) { return __hone_load(p); }
template <class T> inline void __stcs(T* p, std::type_identity_t<T> v) { *p = v; }
template <class T> inline void __stcg(T* p, std::type_identity_t<T> v) { *p = v; }
template <class T> inline void __stwt(T* p, std::type_identity_t<T> v) { *p = v; }
template <class T> inline void __stwb(T* p, std::type_identity_t<T> v) { *p = v; }
