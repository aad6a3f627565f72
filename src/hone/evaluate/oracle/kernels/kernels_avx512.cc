// The oracle's inner loops for AVX-512 (F, DQ, VL).
#include <cmath>

#include "hone/evaluate/oracle/kernels/kernels.h"

#if defined(__x86_64__)
// After the headers: what they define inline must stay runnable on any processor.
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#define HONE_KERNEL_TABLE kKernels_avx512
#define HONE_KERNEL_VECTOR 64
#include "hone/evaluate/oracle/kernels/kernels.inc"
#endif
