// The oracle's inner loops for any processor.
#include <cmath>

#include "hone/evaluate/oracle/kernels/kernels.h"

#define HONE_KERNEL_TABLE kKernels_base
#define HONE_KERNEL_VECTOR 16
#include "hone/evaluate/oracle/kernels/kernels.inc"
