// Everything that HIP kernel source finds on a real AMD processor, without ROCm: qualifiers, where a thread is,
// barriers, wave collectives, atomics, mathematics, 16-bit types, vectors. The names and meanings are those that the
// emulator gives (hone/simt), whose plain parts are shared. Waves of 64. Included before a kernel's source by the
// toolchain; clang 22, -x hip. No state of its own.
#pragma once
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#define __HIP_PLATFORM_AMD__ 1
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
// Threads of a block, and as HIP has it the least number of waves that share a SIMD.
#define HONE_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define HONE_BOUNDS_2(threads, waves) __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define HONE_BOUNDS_OF(a, b, which, ...) which
#define __launch_bounds__(...) HONE_BOUNDS_OF(__VA_ARGS__, HONE_BOUNDS_2, HONE_BOUNDS_1, )(__VA_ARGS__)
#define __grid_constant__
#define __restrict__ __restrict
#define HIP_DYNAMIC_SHARED(T, NAME) extern __shared__ T NAME[];

#define HONE_HIP __device__ inline __attribute__((always_inline))

#pragma clang force_cuda_host_device begin
#include "hone/simt/vectors.h"
#pragma clang force_cuda_host_device end

#define threadIdx (::uint3{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()})
#define blockIdx (::uint3{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()})
#define blockDim (::uint3{__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z()})
#define gridDim \
  (::uint3{__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(), \
           __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z()})
#define warpSize 64

HONE_HIP void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
HONE_HIP void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
HONE_HIP void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
HONE_HIP void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
HONE_HIP void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
HONE_HIP long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
HONE_HIP long long wall_clock64() { return static_cast<long long>(__builtin_readsteadycounter()); }
#define __trap() __builtin_trap()
#undef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())

#include "hone/hip/collectives.h"
#include "hone/hip/atomics.h"
#include "hone/hip/math.h"
