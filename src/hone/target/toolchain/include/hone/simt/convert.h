// Conversions between numbers, as CUDA and HIP name them: __float2ll_rn and its kin, rounded to nearest, down, up or towards zero. What
// an integer does not hold becomes its nearest; a NaN 0 where a float becomes 32 bits, else the upper bit alone, as PTX has it.
#pragma once

enum class __HoneRound { rn, rd, ru, rz };

template <__HoneRound kRound, class From>
inline From __hone_whole(From v) {
  if constexpr (sizeof v == 4)
    return kRound == __HoneRound::rn ? rintf(v) : kRound == __HoneRound::rd ? floorf(v) : kRound == __HoneRound::ru ? ceilf(v) : truncf(v);
  else
    return kRound == __HoneRound::rn ? rint(v) : kRound == __HoneRound::rd ? floor(v) : kRound == __HoneRound::ru ? ceil(v) : trunc(v);
}
template <class To, __HoneRound kRound, class From>
inline To __hone_to_integer(From v) {
  constexpr int kBits = 8 * sizeof(To);
  constexpr bool kSigned = static_cast<To>(-1) < static_cast<To>(0);
  constexpr To kTop = static_cast<To>(1ull << (kBits - 1)), kLeast = kSigned ? kTop : 0, kMost = static_cast<To>(kSigned ? ~kTop : ~To{0});
  if (v != v) return kBits == 64 || sizeof(From) == 8 ? kTop : 0;
  const From whole = __hone_whole<kRound>(v);
  if (whole <= static_cast<From>(kLeast)) return kLeast;
  if (whole >= static_cast<From>(1ull << (kBits - 1)) * (kSigned ? 1 : 2)) return kMost;
  return static_cast<To>(whole);
}

/// The float of magnitude nearest to `near`, which is `above` the exact one in magnitude, `below` it or neither.
template <__HoneRound kRound, class Bits, class To>
inline To __hone_directed(To near, bool above, bool below) {
  Bits bits = __hone_bits<Bits>(near);
  const bool negative = bits >> (8 * sizeof bits - 1) != 0;
  const bool in = kRound == __HoneRound::rz || (kRound == __HoneRound::rd && !negative) || (kRound == __HoneRound::ru && negative);
  if (kRound == __HoneRound::rn) return near;
  if (in && above) --bits;
  if (!in && below) ++bits;
  return __hone_bits<To>(bits);
}
template <class To, __HoneRound kRound, class From>
inline To __hone_from_integer(From v) {
  using Bits = std::conditional_t<sizeof(To) == 8, unsigned long long, unsigned>;
  const unsigned long long magnitude = v < 0 ? 0 - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v);
  const To near = static_cast<To>(magnitude);
  const bool beyond = near >= static_cast<To>(18446744073709551616.0);
  const unsigned long long back = beyond ? 0 : static_cast<unsigned long long>(near);
  return __hone_directed<kRound, Bits>(v < 0 ? -near : near, beyond || back > magnitude, !beyond && back < magnitude);
}
template <__HoneRound kRound>
inline float __hone_to_float(double v) {
  const float near = static_cast<float>(v);
  const double magnitude = fabs(v), back = fabs(static_cast<double>(near));
  return __hone_directed<kRound, unsigned>(near, back > magnitude, back < magnitude);
}
/// Towards zero, and the last bit set where that is not exact: rounded again to fewer bits it is as if that had happened at once.
template <class From>
inline float __hone_odd(From v) {
  if constexpr (std::is_same_v<From, float>) {
    return v;
  } else {
    float near;
    bool exact;
    if constexpr (std::is_same_v<From, double>) {
      near = __hone_to_float<__HoneRound::rz>(v);
      exact = static_cast<double>(near) == v || v != v;
    } else {
      near = __hone_from_integer<float, __HoneRound::rz>(v);
      exact = static_cast<From>(near) == v;
    }
    return __hone_bits<float>(__hone_bits<unsigned>(near) | (exact ? 0u : 1u));
  }
}

#define HONE_CONVERSIONS(ROUND)                                                                                       \
  inline int __float2int_##ROUND(float v) { return __hone_to_integer<int, __HoneRound::ROUND>(v); }                  \
  inline unsigned __float2uint_##ROUND(float v) { return __hone_to_integer<unsigned, __HoneRound::ROUND>(v); }       \
  inline long long __float2ll_##ROUND(float v) { return __hone_to_integer<long long, __HoneRound::ROUND>(v); }       \
  inline unsigned long long __float2ull_##ROUND(float v) { return __hone_to_integer<unsigned long long, __HoneRound::ROUND>(v); }   \
  inline int __double2int_##ROUND(double v) { return __hone_to_integer<int, __HoneRound::ROUND>(v); }                \
  inline unsigned __double2uint_##ROUND(double v) { return __hone_to_integer<unsigned, __HoneRound::ROUND>(v); }     \
  inline long long __double2ll_##ROUND(double v) { return __hone_to_integer<long long, __HoneRound::ROUND>(v); }     \
  inline unsigned long long __double2ull_##ROUND(double v) { return __hone_to_integer<unsigned long long, __HoneRound::ROUND>(v); } \
  inline float __int2float_##ROUND(int v) { return __hone_from_integer<float, __HoneRound::ROUND>(v); }              \
  inline float __uint2float_##ROUND(unsigned v) { return __hone_from_integer<float, __HoneRound::ROUND>(v); }        \
  inline float __ll2float_##ROUND(long long v) { return __hone_from_integer<float, __HoneRound::ROUND>(v); }         \
  inline float __ull2float_##ROUND(unsigned long long v) { return __hone_from_integer<float, __HoneRound::ROUND>(v); }              \
  inline double __ll2double_##ROUND(long long v) { return __hone_from_integer<double, __HoneRound::ROUND>(v); }      \
  inline double __ull2double_##ROUND(unsigned long long v) { return __hone_from_integer<double, __HoneRound::ROUND>(v); }           \
  inline float __double2float_##ROUND(double v) { return __hone_to_float<__HoneRound::ROUND>(v); }
HONE_CONVERSIONS(rn) HONE_CONVERSIONS(rd) HONE_CONVERSIONS(ru) HONE_CONVERSIONS(rz)
#undef HONE_CONVERSIONS
// Exact.
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }
inline int __double2hiint(double v) { return static_cast<int>(__hone_bits<unsigned long long>(v) >> 32); }
inline int __double2loint(double v) { return static_cast<int>(__hone_bits<unsigned long long>(v)); }
inline double __hiloint2double(int hi, int lo) {
  return __hone_bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32 | static_cast<unsigned>(lo));
}
