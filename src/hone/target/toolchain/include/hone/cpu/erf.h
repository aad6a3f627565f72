// erf on f32v, right to 1.5 units in the last place. Coefficients: tools/fit_polynomials.py.
#pragma once
#include "hone/cpu/exp_log.h"

namespace hone {

namespace detail {

#if defined(HONE_AVX512)

/// erf(n/8 + r) is about the sum over k of c(k, n) r^k, for 0 <= r < 1/8; but for n = 0 it is r + r times the
/// sum over k > 0 of c(k, 0) r^(2k - 2), as relative accuracy near zero asks. Row k holds c(k, 0) to c(k, 31).
inline constexpr f32v kErfTable[5][2] = {
    {{0x0p+0f, 0x1.1f5e1ap-3f, 0x1.1af54ep-2f, 0x1.9dd0d2p-2f, 0x1.0a7ef6p-1f, 0x1.3f196ep-1f, 0x1.6c1c98p-1f,
      0x1.91724ap-1f, 0x1.af767ap-1f, 0x1.c6dad2p-1f, 0x1.d8865ep-1f, 0x1.e5768cp-1f, 0x1.eea556p-1f,
      0x1.f4f694p-1f, 0x1.f92d08p-1f, 0x1.fbe61ep-1f},
     {0x1.fd9ae2p-1f, 0x1.fea422p-1f, 0x1.ff4048p-1f, 0x1.ff996p-1f, 0x1.ffcaa8p-1f, 0x1.ffe514p-1f,
      0x1.fff2dp-1f, 0x1.fff9bap-1f, 0x1.fffd1ap-1f, 0x1.fffeb4p-1f, 0x1.ffff7p-1f, 0x1.ffffc4p-1f,
      0x1.ffffe8p-1f, 0x1.fffff6p-1f, 0x1.fffffcp-1f, 0x1.fffffep-1f}},
    {{0x1.06eba8p-3f, 0x1.1c62e6p+0f, 0x1.0f5d08p+0f, 0x1.f5f0e6p-1f, 0x1.c1efb4p-1f, 0x1.86e96ap-1f,
      0x1.492e1ep-1f, 0x1.0cab4p-1f, 0x1.a912ap-2f, 0x1.45ea4ap-2f, 0x1.e464ep-3f, 0x1.5ce63p-3f,
      0x1.e721cp-4f, 0x1.499c48p-4f, 0x1.b05182p-5f, 0x1.12d47ap-5f},
     {0x1.5290cap-6f, 0x1.9454a4p-7f, 0x1.d3f018p-8f, 0x1.06c234p-8f, 0x1.1de602p-9f, 0x1.2d80fep-10f,
      0x1.32d69ep-11f, 0x1.312948p-12f, 0x1.291c86p-13f, 0x1.0e8702p-14f, 0x1.d5846ap-16f, 0x1.4aa9bp-17f,
      0x1.45f50ap-19f, 0x1.529f54p-19f, 0x1.89826cp-20f, 0x1.224516p-19f}},
    {{-0x1.812726p-2f, -0x1.1c29d4p-3f, -0x1.0f488ap-2f, -0x1.7873cep-2f, -0x1.c1ec1ep-2f, -0x1.e8ac38p-2f,
      -0x1.edc9e2p-2f, -0x1.d63338p-2f, -0x1.a9346cp-2f, -0x1.6ec6cap-2f, -0x1.2ec3aep-2f,
      -0x1.dfd7b4p-3f, -0x1.6d465p-3f, -0x1.0bc0a4p-3f, -0x1.7a0db2p-4f, -0x1.01ea1p-4f},
     {-0x1.51e8aep-5f, -0x1.acb9e4p-6f, -0x1.0624c6p-6f, -0x1.3a5504p-7f, -0x1.6a293p-8f, -0x1.931e56p-9f,
      -0x1.9e5d5ap-10f, -0x1.c0dee2p-11f, -0x1.fe6e12p-12f, -0x1.97e53cp-13f, -0x1.f745dp-15f,
      0x1.53cb3ap-15f, 0x1.17d03cp-14f, -0x1.1ab02ep-16f, -0x1.51addcp-16f, -0x1.c36118p-15f}},
    {{0x1.cded82p-4f, -0x1.72433p-2f, -0x1.3eb422p-2f, -0x1.e2477p-3f, -0x1.2c1b4cp-3f, -0x1.bfe49ep-5f,
      0x1.cb02f4p-6f, 0x1.82dacp-4f, 0x1.20b9dep-3f, 0x1.51768ep-3f, 0x1.5903e4p-3f, 0x1.458d34p-3f,
      0x1.1bb3p-3f, 0x1.d50ae8p-4f, 0x1.6e1f22p-4f, 0x1.165a22p-4f},
     {0x1.81ab7cp-5f, 0x1.07ea5ap-5f, 0x1.54bf68p-6f, 0x1.d87776p-7f, 0x1.2a85d4p-7f, 0x1.67c2f6p-8f,
      0x1.3810d2p-9f, 0x1.bfd8a2p-10f, 0x1.8bdb9p-10f, 0x1.4272fap-12f, -0x1.7afbc8p-13f,
      -0x1.a3e5eap-11f, -0x1.c9323cp-11f, 0x1.d66d4ap-14f, 0x1.8876f2p-13f, 0x1.273644p-11f}},
    {{-0x1.9133fcp-6f, 0x1.90b492p-4f, 0x1.2f930ep-3f, 0x1.681b9ap-3f, 0x1.774084p-3f, 0x1.54f3acp-3f,
      0x1.1560e8p-3f, 0x1.80badep-4f, 0x1.80377cp-5f, 0x1.172d26p-7f, -0x1.2386c2p-6f, -0x1.41fb64p-5f,
      -0x1.79453p-5f, -0x1.8da468p-5f, -0x1.6725p-5f, -0x1.566d76p-5f},
     {-0x1.c8be8ep-6f, -0x1.5a03fap-6f, -0x1.c5aa5p-7f, -0x1.cd5814p-7f, -0x1.4f926p-7f, -0x1.bdfffap-8f,
      -0x1.771edap-10f, -0x1.300666p-9f, -0x1.c2366p-9f, -0x1.13770ap-13f, 0x1.219254p-10f,
      0x1.91578cp-9f, 0x1.a2fdecp-9f, -0x1.766d5ep-12f, -0x1.53afdp-11f, -0x1.0579aap-9f}},
};

/// The lanes of a row that `index` names by its five lowest bits: one instruction, no memory.
HONE_INLINE f32v look_up(const f32v (&row)[2], i32v index) {
#if defined(__clang__)
  return __builtin_ia32_vpermi2varps512(row[0], index, row[1]);
#else
  return __builtin_shuffle(row[0], row[1], index);
#endif
}

#endif

}  // namespace detail

HONE_INLINE f32v erf(f32v x) {
#if defined(HONE_AVX512)
  // Half the multiplications of one polynomial over all x: gelu is otherwise bound by them.
  const f32v t = min_num(splat<f32v>(0x1.fffffep+1f), abs(x));  // erf(4) has long been rounded to 1
  constexpr int kTowardsZeroToEighths = 3 << 4 | 3;
  const f32v eighths = __builtin_ia32_rndscaleps_mask(t, kTowardsZeroToEighths, t, 0xffff, 4);
  const f32v r = t - eighths;
  const i32v n = bit_cast<i32v>(eighths + 0x1p20f);  // an eighth is now the unit of the mantissa
  const Mask<f32v> first = eighths == 0;
  const f32v power = first ? r * r : r;
  f32v p = detail::look_up(detail::kErfTable[4], n);
  for (int k = 3; k > 0; --k) p = fma(p, power, detail::look_up(detail::kErfTable[k], n));
  return copysign(fma(p, r, first ? t : detail::look_up(detail::kErfTable[0], n)), x);
#else
  const f32v t = abs(x), s = x * x;
  const f32v near = detail::polynomial(s, 0x1.06eba6p-3f, -0x1.8126dcp-2f, 0x1.ce1856p-4f, -0x1.b669aap-6f,
                                       0x1.466b7ep-8f, -0x1.36ae82p-11f) * x + x;
  // The rest is 1 - exp(-p), which has rounded to 1 by 3.9375.
  const f32v p = detail::polynomial(min_num(splat<f32v>(3.9375f), t), -0x1.657022p-13f, 0x1.212674p+0f,
                                    0x1.444c48p-1f, 0x1.bb4912p-4f, -0x1.9aebaap-6f, 0x1.105284p-8f,
                                    -0x1.c3ee2p-12f, 0x1.5c8e6cp-16f);
  return t < 0.9375f ? near : copysign(1 - detail::exp_in_range(-p), x);
#endif
}

}  // namespace hone
