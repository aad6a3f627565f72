// Blocks that run together in a cluster (a launch with `cluster`; sm_90 and later): their barrier, and each other's shared
// memory. Without `cluster` a block is a cluster of one.
//
//   __shared__ float part;
//   part = …;
//   hone::prim::cluster_sync();                                   every block's part is written
//   sum += *hone::prim::map_shared(&part, rank);                  reads block `rank`'s
//   hone::prim::cluster_sync();                                   no block ends before the others have read
//
// The barrier is for all threads of all blocks; between arriving and waiting a thread may do what concerns nobody else.
// What a thread did before it arrived is there for who has waited. Another block's shared memory is there from the first
// barrier on, which says that the block has begun, to the last one before it ends.
#pragma once
#include "hone/gpu/prim.h"

namespace hone::prim {

/// This block's number in its cluster, from 0; x fastest, as in the grid.
HONE_DEVICE int cluster_rank() {
#if HONE_EMULATED
  return hone_simt_cluster(0);
#else
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#endif
}
/// Blocks of the cluster, 1 to 16.
HONE_DEVICE int cluster_size() {
#if HONE_EMULATED
  return hone_simt_cluster(1);
#else
  int size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
#endif
}
/// Comes to the cluster's barrier and goes on; cluster_wait() has to follow before it comes again.
HONE_DEVICE void cluster_arrive([[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  hone_simt_cluster_barrier(0, line);
#else
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
HONE_DEVICE void cluster_wait([[maybe_unused]] int line = __builtin_LINE()) {
#if HONE_EMULATED
  hone_simt_cluster_barrier(1, line);
#else
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}
HONE_DEVICE void cluster_sync(int line = __builtin_LINE()) {
  cluster_arrive(line);
  cluster_wait(line);
}
/// Where block `rank` of the cluster has what this block has at p, which lies in its shared memory. For plain and atomic
/// loads and stores by this block's threads, not for barriers with phases or asynchronous copies.
template <class T>
HONE_DEVICE T* map_shared(T* p, int rank) {
#if HONE_EMULATED
  void* const there = hone_simt_map_shared(p, rank);
  asm volatile("" ::: "memory");  // no tail call: where it returns to is where it is called
  return static_cast<T*>(there);
#else
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
  return there;
#endif
}

}  // namespace hone::prim
