// Plain kernels on a GPU: one thread walks what a block of the CPU's plain kernel walks.
#pragma once
#include "hone/gpu.h"

#define HONE_INLINE HONE_DEVICE
#include "hone/cpu/integer.h"
#include "hone/cpu/plan.h"
#include "hone/whole.h"
#include "hone/plain_loops.h"
