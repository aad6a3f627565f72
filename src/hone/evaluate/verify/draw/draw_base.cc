// Drawing on any processor.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "hone/evaluate/verify/draw/draw_kernels.h"

#define HONE_DRAW_TABLE kDrawKernels_base
#define HONE_DRAW_NAME "base"
#define HONE_DRAW_VECTOR 16
#if defined(__x86_64__)
#define HONE_DRAW_PRODUCT(a, b) (Lanes) _mm_mul_epu32((__m128i)(a), (__m128i)(b))
#else
#define HONE_DRAW_PRODUCT(a, b) ((a) & 0xFFFFFFFFu) * (b)
#endif
#include "hone/evaluate/verify/draw/draw_kernels.inc"
