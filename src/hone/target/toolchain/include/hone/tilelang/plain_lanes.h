// Who a thread is, and vectors made of elements, as TileLang's templates name them. Part of plain.h.
#pragma once

namespace tl {

__device__ inline float fast_rcp(float x) { return 1 / x; }
/// A vector of one element again and again, and one of elements that are given.
template <class V, class U>
__device__ inline V broadcast(U unit) {
  U parts[sizeof(V) / sizeof(U)];
  for (U& part : parts) part = unit;
  return __builtin_bit_cast(V, parts);
}
template <class V, class U, class... More>
__device__ inline V make_vec(U first, More... more) {
  const U parts[] = {first, static_cast<U>(more)...};
  return __builtin_bit_cast(V, parts);
}
#if HONE_SIMT_WAVE == 64
constexpr int kWave = 64;
#else
constexpr int kWave = 32;
#endif
__device__ inline int hone_thread() { return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)); }
__device__ inline int get_lane_idx(int warp = kWave) { return hone_thread() % warp; }
__device__ inline int get_warp_idx(int warp = kWave) { return hone_thread() / warp; }
__device__ inline int get_warp_idx_sync(int warp = kWave) { return hone_thread() / warp; }
__device__ inline int get_warp_group_idx(int warp = kWave, int warps = 4) { return hone_thread() / (warp * warps); }

}  // namespace tl
