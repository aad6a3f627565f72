// What a card says of itself while it works, for hone's own kernels: CUDA only, and nothing to compute with.
#pragma once
#include "hone/gpu/prim.h"

#if !HONE_EMULATED && defined(__CUDACC__)
namespace hone::prim {

/// Number of the multiprocessor that this block is on; they may have gaps.
HONE_DEVICE uint32_t multiprocessor() {
  uint32_t number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

/// The card's clock (ns), the same for all multiprocessors.
HONE_DEVICE uint64_t card_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

}  // namespace hone::prim
#endif
