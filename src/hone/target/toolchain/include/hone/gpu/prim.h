// What a GPU has below C++: asynchronous copies into shared memory, barriers with phases, matrix units. Each function is
// the hardware's instruction on a device and its meaning on the emulator (docs/emulator.md).
//   CUDA: AsyncCopies (cp.async), ldmatrix and mma, sm_80 and later: prim_cuda.h; PhaseBarrier and bulk copies, sm_90 and
//   later: prim_phases.h; copies of tiles of tensors (TMA), sm_90a: prim_tensor.h; clusters of blocks, sm_90 and later: prim_cluster.h; products of groups of warps (wgmma), sm_90a:
//   prim_wgmma.h.
//   HIP: mfma, gfx90a and later: prim_mfma.h.
// Warp- and wave-wide functions need all lanes.
#pragma once
#include "hone/gpu.h"

#if defined(HONE_SIMT_WAVE)
#define HONE_EMULATED 1
#include "hone/simt/matrix.h"
#else
#define HONE_EMULATED 0
#endif

#if defined(__HIP__)
#include "hone/gpu/prim_mfma.h"
#else
#include "hone/gpu/prim_cuda.h"
#include "hone/gpu/prim_phases.h"
#include "hone/gpu/prim_wgmma.h"
#include "hone/gpu/prim_cluster.h"
#endif
