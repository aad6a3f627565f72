// The oracle's inner loops for AVX2 and FMA.
#include <cmath>

#include "hone/evaluate/oracle/kernels/kernels.h"

#if defined(__x86_64__)
// After the headers: what they define inline must stay runnable on any processor.
#pragma GCC target("avx2,fma")
#define HONE_KERNEL_TABLE kKernels_avx2
#define HONE_KERNEL_VECTOR 32
#include "hone/evaluate/oracle/kernels/kernels.inc"
#endif
