// Drawing with AVX-512 (F, BW, DQ, VL).
#include "hone/evaluate/verify/draw/draw_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
// After the headers: what they define inline must stay runnable on any processor.
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,prefer-vector-width=512")
#define HONE_DRAW_TABLE kDrawKernels_avx512
#define HONE_DRAW_NAME "avx512"
#define HONE_DRAW_VECTOR 64
// The unmasked form makes GCC 12 warn of an uninitialised operand.
#define HONE_DRAW_PRODUCT(a, b) (Lanes) _mm512_maskz_mul_epu32(0xFF, (__m512i)(a), (__m512i)(b))
#include "hone/evaluate/verify/draw/draw_kernels.inc"
#endif
