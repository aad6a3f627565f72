// Barriers with phases in shared memory (mbarrier) and bulk copies that arrive at them; sm_90 and later.
//
//   __shared__ hone::prim::PhaseBarrier full;          the barrier's word; 8 bytes
//   if (threadIdx.x == 0) full.init(1);                then __syncthreads(), before anybody uses it
//   if (threadIdx.x == 0) {
//     full.arrive_expecting(bytes);                    one arrival, and bytes that have to come besides
//     full.bulk_copy(tile, from, bytes);
//   }
//   full.wait(0);                                      the first phase; the next one has parity 1, then 0 again
//
// A phase is complete when its arrivals and its bytes are there; the next one begins at once. A wait for the phase before
// the first one (parity 1) returns at once. What threads did before they arrived is there for who has waited.
#pragma once
#include "hone/gpu/prim.h"

namespace hone::prim {

class TensorMap;

class PhaseBarrier {
 public:
  /// For `arrivals` (1 to 2^20 - 1) a phase. By one thread; others after a barrier of the block.
  HONE_DEVICE void init(int arrivals) {
#if HONE_EMULATED
    call(0, arrivals);
#else
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&word_)), "r"(arrivals) : "memory");
    // For the hardware that copies, too.
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  HONE_DEVICE void arrive() {
#if HONE_EMULATED
    call(1, 0);
#else
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&word_)) : "memory");
#endif
  }
  /// Arrives at the barrier that block `rank` of the cluster has at this place. Who waits there knows that the thread, or its warp's products, have read what
  /// they read in their own block's shared memory, which may be written over then. What was written it does not bring along: a cluster's barrier does
  /// (an arrival that did would have to wait for all of the thread's stores, at each stage).
  HONE_DEVICE void arrive_at(int rank) {
#if HONE_EMULATED
    call(4, rank);
#else
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(
                     shared_address(&word_)), "r"(rank) : "memory");
#endif
  }
  /// Arrives and says that so many bytes of bulk copies belong to the phase.
  HONE_DEVICE void arrive_expecting(uint32_t bytes) {
#if HONE_EMULATED
    call(1, bytes);
#else
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&word_)), "r"(bytes) : "memory");
#endif
  }
  /// Copies `bytes` from global into shared memory while threads go on; they arrive at this barrier, which has to expect
  /// them in the same phase. Both addresses and bytes are multiples of 16. By one thread. What threads have read from `to`
  /// before has to be ordered before the copy, by a barrier.
  HONE_DEVICE void bulk_copy(void* to, const void* from, uint32_t bytes) {
#if HONE_EMULATED
    hone_simt_bulk_copy(to, from, bytes, &word_);
    asm volatile("" ::: "memory");
#else
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(&word_)) : "memory");
#endif
  }
  /// Likewise of what is read once: it leaves the second-level cache first.
  HONE_DEVICE void bulk_copy_passing(void* to, const void* from, uint32_t bytes) {
#if HONE_EMULATED
    hone_simt_bulk_copy(to, from, bytes, &word_);
    asm volatile("" ::: "memory");
#else
    asm volatile(
        "{\n.reg .b64 first;\ncreatepolicy.fractional.L2::evict_first.b64 first, 1.0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], first;\n}" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(&word_)) : "memory");
#endif
  }
  /// Copies the tile of 128 bytes x map.rows() rows at (x, y, z) of a tensor, which arrives likewise: prim_tensor.h.
  HONE_DEVICE void tensor_copy(void* to, const TensorMap& map, int x, int y, int z);
  /// The same for several blocks of the cluster at once, a bit of `blocks` each: into the place that each has where this block has `to`. It arrives at
  /// the barrier that each has where this block has this one, with all of its bytes.
  HONE_DEVICE void tensor_copy_to(uint32_t blocks, void* to, const TensorMap& map, int x, int y, int z);
  /// Whether the phase of this parity (0 or 1) is complete; may take a while to say no.
  HONE_DEVICE bool try_wait(int parity) {
#if HONE_EMULATED
    return call(2, parity) != 0;
#else
    uint32_t done;
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.b32 %0, 1, 0, p;\n}"
        : "=r"(done) : "r"(shared_address(&word_)), "r"(parity) : "memory");
    return done != 0;
#endif
  }
  HONE_DEVICE void wait(int parity) {
    while (!try_wait(parity)) {}
  }
  /// The same for who has time: sleeps between looks, so as to leave the others their turns.
  HONE_DEVICE void wait_asleep(int parity) {
    while (!try_wait(parity)) {
#if !HONE_EMULATED
      __nanosleep(32);
#endif
    }
  }
  /// The word is plain memory again. After a barrier of the block behind all uses, by one thread.
  HONE_DEVICE void invalidate() {
#if HONE_EMULATED
    call(3, 0);
#else
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(&word_)) : "memory");
#endif
  }

 private:
#if HONE_EMULATED
  HONE_DEVICE int call(int op, int64_t value) {
    const int result = hone_simt_phase(op, &word_, value);
    asm volatile("" ::: "memory");  // no tail call: where it returns to is where it is called
    return result;
  }
#endif
  uint64_t word_;
};

/// What threads have written into shared memory is there for the copies and matrix products that go on beside them, behind
/// the next barrier. By each thread that has written.
HONE_DEVICE void async_fence() {
#if !HONE_EMULATED
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace hone::prim

#include "hone/gpu/prim_tensor.h"
