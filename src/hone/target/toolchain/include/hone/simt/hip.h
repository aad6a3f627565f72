// Everything that HIP kernel source finds on the emulator: waves of 64, the names of CDNA processors.
#pragma once
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN__ 1
#define __gfx942__ 1
#include "hone/simt/language.h"
#include "hone/simt/math.h"
#include "hone/simt/half.h"

#define HIP_DYNAMIC_SHARED(T, NAME) T* NAME = reinterpret_cast<T*>(hone_simt_dynamic);
#define __builtin_amdgcn_wave_barrier() ((void)hone_simt_collective(hone::simt::kSync, 0, 0, 0, 1, __builtin_LINE()))
#define __builtin_amdgcn_s_barrier() __syncthreads(__builtin_LINE())
#define __builtin_amdgcn_fence(...) hone_simt_fence()
#define __builtin_amdgcn_s_sleep(n) hone_simt_pause()
#define __builtin_amdgcn_readfirstlane(v) __shfl((v), __ffsll(static_cast<long long>(__ballot(1))) - 1)
