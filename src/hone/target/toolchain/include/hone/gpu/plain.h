// Plain kernels on a GPU: one thread walks what a block of the CPU's plain kernel walks.
#pragma once
#include "hone/gpu.h"

#define HONE_INLINE HONE_DEVICE
#include "hone/cpu/integer.h"
#include "hone/cpu/plan.h"
#include "hone/float8.h"
#include "hone/whole.h"
#include "hone/plain_loops.h"

// Of what includes this too: products and sums are rounded one by one.
#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace hone {

/// As hone::gpu::difference.
HONE_DEVICE float difference(float a, float b) { return __fsub_rn(a, b); }
HONE_DEVICE double difference(double a, double b) { return __dadd_rn(a, -b); }

}  // namespace hone
