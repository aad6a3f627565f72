#include "hone/evaluate/verify/draw/loops.h"

namespace hone::evaluate {

extern const DrawLoops kDrawLoops_base;
#if defined(__x86_64__)
extern const DrawLoops kDrawLoops_avx2;
extern const DrawLoops kDrawLoops_avx512;
#endif

namespace {

const DrawLoops& choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return kDrawLoops_avx512;
  if (__builtin_cpu_supports("avx2")) return kDrawLoops_avx2;
#endif
  return kDrawLoops_base;
}

}  // namespace

const DrawLoops& draw_loops() {
  static const DrawLoops& chosen = choose();
  return chosen;
}

}  // namespace hone::evaluate
