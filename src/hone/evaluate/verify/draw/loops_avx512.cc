// The loops of drawing for AVX-512 (F, DQ, VL).
#include "hone/evaluate/verify/draw/loops.h"

#if defined(__x86_64__)
// After the headers: what they define inline must stay runnable on any processor.
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,prefer-vector-width=512")
#define HONE_DRAW_TABLE kDrawLoops_avx512
#include "hone/evaluate/verify/draw/loops.inc"
#endif
