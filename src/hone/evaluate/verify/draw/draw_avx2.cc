// Drawing with AVX2.
#include "hone/evaluate/verify/draw/draw_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
// After the headers: what they define inline must stay runnable on any processor.
#pragma GCC target("avx2")
#define HONE_DRAW_TABLE kDrawKernels_avx2
#define HONE_DRAW_NAME "avx2"
#define HONE_DRAW_VECTOR 32
#define HONE_DRAW_PRODUCT(a, b) (Lanes) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#include "hone/evaluate/verify/draw/draw_kernels.inc"
#endif
