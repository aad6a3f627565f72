// Multiply-adds as fast as the CPU issues them: enough independent accumulators to cover the latency of
// two pipes (4 cycles, some CPUs 5), operands in registers, x = x * a + b with a fixed point, so that no
// value overflows or turns denormal.
#include "hone/target/calibrate/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::target::calibrate {
namespace {

constexpr int kAccumulators = 12;  // with two operands they fit 16 registers

/// Makes the compiler believe that the accumulators are used, and unknown beforehand.
#define HONE_KEEP(x, constraint)                          \
  for (int i_ = 0; i_ < kAccumulators; ++i_) __asm__ volatile("" : "+" constraint(x[i_]))

/// STEP is done `rounds` times to each accumulator `x` of type TYPE.
#define HONE_LOOP(NAME, TARGET, TYPE, SETUP, STEP, CONSTRAINT)          \
  TARGET void NAME(int64_t rounds) {                                    \
    SETUP;                                                              \
    TYPE x[kAccumulators] = {};                                         \
    HONE_KEEP(x, CONSTRAINT);                                           \
    for (int64_t round = 0; round < rounds; ++round) {                  \
      _Pragma("GCC unroll 12") for (int i = 0; i < kAccumulators; ++i) x[i] = STEP; \
      __asm__ volatile("");                                             \
    }                                                                   \
    HONE_KEEP(x, CONSTRAINT);                                           \
  }

typedef float Float4 __attribute__((vector_size(16)));
typedef double Double2 __attribute__((vector_size(16)));

#if defined(__x86_64__)
#define HONE_REGISTER "x"
#define HONE_REGISTER_512 "v"
#else
#define HONE_REGISTER "w"
#endif

HONE_LOOP(f32_plain, , Float4, Float4 a = Float4{} + 0.5f; Float4 b = Float4{} + 1.0f, x[i] * a + b, HONE_REGISTER)
HONE_LOOP(f64_plain, , Double2, Double2 a = Double2{} + 0.5; Double2 b = Double2{} + 1.0, x[i] * a + b, HONE_REGISTER)

#if defined(__x86_64__)
#define HONE_AVX2 __attribute__((target("avx2,fma")))
#define HONE_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
HONE_LOOP(f32_avx2, HONE_AVX2, __m256, const __m256 a = _mm256_set1_ps(0.5f); const __m256 b = _mm256_set1_ps(1),
          _mm256_fmadd_ps(x[i], a, b), HONE_REGISTER)
HONE_LOOP(f64_avx2, HONE_AVX2, __m256d, const __m256d a = _mm256_set1_pd(0.5); const __m256d b = _mm256_set1_pd(1),
          _mm256_fmadd_pd(x[i], a, b), HONE_REGISTER)
HONE_LOOP(f32_avx512, HONE_AVX512, __m512, const __m512 a = _mm512_set1_ps(0.5f); const __m512 b = _mm512_set1_ps(1),
          _mm512_fmadd_ps(x[i], a, b), HONE_REGISTER_512)
HONE_LOOP(f64_avx512, HONE_AVX512, __m512d, const __m512d a = _mm512_set1_pd(0.5); const __m512d b = _mm512_set1_pd(1),
          _mm512_fmadd_pd(x[i], a, b), HONE_REGISTER_512)

// The sums grow, but in f32 not beyond 2^24 + 2, and integers wrap: neither costs time.
HONE_LOOP(bf16_avx512, __attribute__((target("avx512f,avx512bf16"))), __m512,
          const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1), _mm512_set1_ps(1)),
          _mm512_dpbf16_ps(x[i], a, a), HONE_REGISTER_512)
HONE_LOOP(i8_avx512, __attribute__((target("avx512f,avx512vnni"))), __m512i, const __m512i a = _mm512_set1_epi8(3),
          _mm512_dpbusd_epi32(x[i], a, a), HONE_REGISTER_512)
HONE_LOOP(i8_avxvnni, __attribute__((target("avx2,avxvnni"))), __m256i, const __m256i a = _mm256_set1_epi8(3),
          _mm256_dpbusd_avx_epi32(x[i], a, a), HONE_REGISTER)
// Pairs of products in 16 bits, pairs of those in 32: what there was before VNNI.
HONE_LOOP(i8_avx2, HONE_AVX2, __m256i, __m256i a = _mm256_set1_epi8(3); const __m256i one = _mm256_set1_epi16(1),
          _mm256_add_epi32(x[i], _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_xor_si256(a, x[i]), a), one)),
          HONE_REGISTER)

bool has_avx512() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"); }
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

Products loop(void (*run)(int64_t), int lanes) { return {run, int64_t{lanes} * kAccumulators}; }

}  // namespace

Products f64_products() {
#if defined(__x86_64__)
  if (has_avx512()) return loop(f64_avx512, 8);
  if (has_avx2()) return loop(f64_avx2, 4);
#endif
  return loop(f64_plain, 2);
}

Products f32_products() {
#if defined(__x86_64__)
  if (has_avx512()) return loop(f32_avx512, 16);
  if (has_avx2()) return loop(f32_avx2, 8);
#endif
  return loop(f32_plain, 4);
}

Products bf16_products() {
#if defined(__x86_64__)
  if (has_avx512() && __builtin_cpu_supports("avx512bf16")) return loop(bf16_avx512, 32);
#endif
  return f32_products();
}

Products i8_products() {
#if defined(__x86_64__)
  if (has_avx512() && __builtin_cpu_supports("avx512vnni")) return loop(i8_avx512, 64);
  if (has_avx2() && __builtin_cpu_supports("avxvnni")) return loop(i8_avxvnni, 32);
  if (has_avx2()) return loop(i8_avx2, 32);
#endif
  return f32_products();
}

}  // namespace hone::target::calibrate
