// Mathematics of one thread: the functions of hone/gpu.h for float and int32_t beside those for double and int64_t.
// float computes in float, within a few units of the last place (no fast intrinsics); NaN and infinity go through as
// in NumPy. The same results on CUDA and HIP but for those units.
#pragma once
#include "hone/cpu/plan.h"
#include "hone/gpu.h"
#include "hone/gpu/prim_float8.h"
#include "hone/gpu/prim_math.h"

#include "hone/whole.h"

namespace hone::gpu {

using hone::abs; using hone::sign; using hone::exp; using hone::exp2; using hone::expm1; using hone::log; using hone::log2;
using hone::log10; using hone::log1p; using hone::sqrt; using hone::rsqrt; using hone::reciprocal; using hone::sin; using hone::cos; using hone::tan;
using hone::asin; using hone::acos; using hone::atan; using hone::sinh; using hone::cosh; using hone::tanh; using hone::erf;
using hone::floor; using hone::ceil; using hone::round; using hone::trunc; using hone::is_nan; using hone::is_inf; using hone::pow;
using hone::atan2; using hone::max; using hone::min; using hone::select; using hone::wrapped; using hone::whole_add; using hone::whole_sub;
using hone::whole_mul; using hone::whole_mod; using hone::whole_div; using hone::whole_pow; using hone::to_odd;

/// a - b rounded by itself, never in one operation with the product that a is: a maximum that was found among rounded
/// products lies below such a difference's exact product by up to half a unit of it, and exp() of that is infinite
/// where products are large.
HONE_DEVICE float difference(float a, float b) { return __fsub_rn(a, b); }
HONE_DEVICE double difference(double a, double b) { return __dadd_rn(a, -b); }

HONE_DEVICE float max(float a, float b) { return prim::max(a, b); }
HONE_DEVICE float min(float a, float b) { return prim::min(a, b); }

/// e^x - 1 within 1.5 units of the last place (-0 gives 0): with x = n ln 2 + r it is 2^n (e^r - 1) + (2^n - 1), at half the
/// size, so that 2^128 is none. n is 0 where the sum would cancel. 19 instructions, all at the full rate, where
/// CUDA's expm1f has 31 and two at a quarter of it: enough to hold up an activation at 4 TB/s. The polynomial is the
/// minimax one for |r| <= 0.41, its error 3.6e-8 of the result.
HONE_DEVICE float expm1(float x) {
  constexpr float kInteger = 12582912.0f;   // 1.5 * 2^23: floats there are integers, their last bits what was added
  const float b = min(max(x, -25.0f), 89.0f);
  const float shifted = ::fabsf(b) < 0.41f ? kInteger : ::fmaf(b, 1.44269502f, kInteger), n = shifted - kInteger;
  const float r = ::fmaf(n, -1.42860677e-6f, ::fmaf(n, -0.693145752f, b));
  float p = ::fmaf(0.00138800032f, r, 0.00837979186f);
  p = ::fmaf(::fmaf(::fmaf(p, r, 0.041667711f), r, 0.166664258f), r, 0.49999994f);
  p = ::fmaf(r * r, p, r);
  const float half = __builtin_bit_cast(float, (__builtin_bit_cast(uint32_t, shifted) << 23) + 0x3f000000u);   // 2^(n - 1)
  const float y = ::fmaf(p, half, half - 0.5f);
  return y + y;
}

HONE_DEVICE float abs(float x) { return ::fabsf(x); }
HONE_DEVICE float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
HONE_DEVICE float exp(float x) { return ::expf(x); }
HONE_DEVICE float exp2(float x) { return ::exp2f(x); }
HONE_DEVICE float log(float x) { return ::logf(x); }
HONE_DEVICE float log2(float x) { return ::log2f(x); }
HONE_DEVICE float log10(float x) { return ::log10f(x); }
HONE_DEVICE float log1p(float x) { return ::log1pf(x); }
HONE_DEVICE float sqrt(float x) { return ::sqrtf(x); }
HONE_DEVICE float rsqrt(float x) { return 1.0f / ::sqrtf(x); }
HONE_DEVICE float reciprocal(float x) { return 1.0f / x; }
HONE_DEVICE float sin(float x) { return ::sinf(x); }
HONE_DEVICE float cos(float x) { return ::cosf(x); }
HONE_DEVICE float tan(float x) { return ::tanf(x); }
HONE_DEVICE float asin(float x) { return ::asinf(x); }
HONE_DEVICE float acos(float x) { return ::acosf(x); }
HONE_DEVICE float atan(float x) { return ::atanf(x); }
HONE_DEVICE float sinh(float x) { return ::sinhf(x); }
HONE_DEVICE float cosh(float x) { return ::coshf(x); }
HONE_DEVICE float tanh(float x) { return ::tanhf(x); }
HONE_DEVICE float erf(float x) { return ::erff(x); }
HONE_DEVICE float floor(float x) { return ::floorf(x); }
HONE_DEVICE float ceil(float x) { return ::ceilf(x); }
HONE_DEVICE float round(float x) { return ::rintf(x); }
HONE_DEVICE float trunc(float x) { return ::truncf(x); }
HONE_DEVICE bool is_nan(float x) { return x != x; }
HONE_DEVICE bool is_inf(float x) { return ::fabsf(x) == __builtin_inff(); }
HONE_DEVICE float pow(float x, float y) { return ::powf(x, y); }
HONE_DEVICE float atan2(float y, float x) { return ::atan2f(y, x); }

/// a / b rounded down, as NumPy and PyTorch have it: the division may round up to a whole number, which the rest's sign
/// tells. Where a is infinite there is no answer.
HONE_DEVICE float floor_quotient(float a, float b) {
  const float q = ::floorf(a / b), rest = q == 0 ? a : ::fmaf(-q, b, a);
  if (is_inf(a)) return __builtin_nanf("");
  return rest != 0 && (rest < 0) != (b < 0) ? q - 1.0f : q;
}
HONE_DEVICE double floor_quotient(double a, double b) {
  const double q = ::floor(a / b), rest = q == 0 ? a : ::fma(-q, b, a);
  if (is_inf(a)) return __builtin_nan("");
  return rest != 0 && (rest < 0) != (b < 0) ? q - 1 : q;
}
/// The remainder of a / b with b's sign, exact but for one rounding.
HONE_DEVICE float modulo(float a, float b) {
  const float rest = ::fmodf(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
HONE_DEVICE double modulo(double a, double b) {
  const double rest = ::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
HONE_DEVICE int32_t abs(int32_t x) { return x < 0 ? static_cast<int32_t>(-static_cast<uint32_t>(x)) : x; }
HONE_DEVICE int32_t sign(int32_t x) { return (x > 0) - (x < 0); }
HONE_DEVICE int32_t max(int32_t a, int32_t b) { return a > b ? a : b; }
HONE_DEVICE int32_t min(int32_t a, int32_t b) { return a < b ? a : b; }

/// Divides many by one: x / d within a unit of the last place for a few multiplications. Infinities, zeros and NaN as a
/// division has them; a divisor near the ends of float's range is brought to its middle first.
struct Divisor {
  float scale, d, r;
  HONE_DEVICE explicit Divisor(float by) {
    const float size = ::fabsf(by);
    scale = size > 1e30f ? 5.421010862427522e-20f : size < 1e-30f ? 1.8446744073709552e19f : 1.0f;   // 2^-64, 2^64
    d = by * scale;
    r = prim::reciprocal(d);
  }
};

/// a / b within a unit of the last place for b from 2^-120 to 2^120 in size, zero, NaN or infinite, and r near 1 / b.
HONE_DEVICE float ratio(float a, float b, float r) {
  const float q = a * r, rest = ::fmaf(-q, b, a);
  return ::fabsf(rest) < __builtin_inff() ? ::fmaf(rest, r, q) : q;
}
HONE_DEVICE float ratio(float a, float b) { return ratio(a, b, prim::reciprocal(b)); }
HONE_DEVICE float operator/(float x, const Divisor& by) { return ratio(x, by.d, by.r) * by.scale; }

/// a / b within three units of the last place, for the same b. Infinity by infinity is no number here either, and zero by infinity is zero.
HONE_DEVICE float coarse_ratio(float a, float b) { return a * prim::reciprocal(b); }
/// e^x within 2^-22 and |x| 2^-24 of itself, for who rounds it to 16 bits.
HONE_DEVICE float coarse_exp(float x) { return prim::exp2_nearly(x * 1.44269504f); }

/// a / b for any b. The compiler's own division branches where b is near the ends of float's range, and elements on both sides of
/// a branch are computed one after another, whatever is read ahead of them is not; here they run beside each other.
HONE_DEVICE float divided(float a, float b) { return a / Divisor(b); }

/// A stored element as a thread computes with it: narrow floats as float, small integers as int32_t.
HONE_DEVICE float value(float x) { return x; }
HONE_DEVICE double value(double x) { return x; }
HONE_DEVICE float value(f16 x) { return static_cast<float>(x); }
HONE_DEVICE float value(bf16 x) { return static_cast<float>(x); }
HONE_DEVICE float value(f8e4m3 x) { return prim::from_f8(x); }
HONE_DEVICE float value(f8e5m2 x) { return prim::from_f8(x); }
HONE_DEVICE int64_t value(int64_t x) { return x; }
HONE_DEVICE int32_t value(int32_t x) { return x; }
HONE_DEVICE int32_t value(int16_t x) { return x; }
HONE_DEVICE int32_t value(int8_t x) { return x; }
HONE_DEVICE bool value(bool x) { return x; }

/// And back. double to a narrow float rounds once, not twice.
template <class T, class V>
HONE_DEVICE T stored(V x) {
  if constexpr (requires { typename T::Format; }) return prim::to_f8<T>(static_cast<float>(x));
  else return static_cast<T>(x);
}
template <class T>
HONE_DEVICE T stored(double x) {
  if constexpr (requires { typename T::Format; }) return prim::to_f8<T>(to_odd(x));
  else return static_cast<T>(x);
}

/// Rounded to a narrower floating type, to compute on with.
template <class T>
HONE_DEVICE float rounded(float x) { return value(stored<T>(x)); }
template <>
HONE_DEVICE float rounded<bf16>(float x) { return prim::rounded_to_bf16(x); }
template <class T>
HONE_DEVICE float rounded(double x) { return rounded<T>(to_odd(x)); }

}  // namespace hone::gpu
