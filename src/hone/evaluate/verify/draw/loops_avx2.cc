// The loops of drawing for AVX2.
#include "hone/evaluate/verify/draw/loops.h"

#if defined(__x86_64__)
// After the headers: what they define inline must stay runnable on any processor.
#pragma GCC target("avx2")
#define HONE_DRAW_TABLE kDrawLoops_avx2
#include "hone/evaluate/verify/draw/loops.inc"
#endif
