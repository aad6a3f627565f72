// The oracle's inner loops for any processor.
#include <cmath>

#include "hone/base/result.h"
#include "hone/evaluate/oracle/kernels/kernels.h"

#define HONE_KERNEL_TABLE kKernels_base
#include "hone/evaluate/oracle/kernels/kernels.inc"
