#include "hone/evaluate/verify/draw/draw_kernels.h"

namespace hone::evaluate {

extern const DrawKernels kDrawKernels_base;
#if defined(__x86_64__)
extern const DrawKernels kDrawKernels_avx2;
extern const DrawKernels kDrawKernels_avx512;
#endif

const std::vector<const DrawKernels*>& runnable_draw_kernels() {
  static const std::vector<const DrawKernels*> runnable = [] {
    std::vector<const DrawKernels*> found{&kDrawKernels_base};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) found.push_back(&kDrawKernels_avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      found.push_back(&kDrawKernels_avx512);
#endif
    return found;
  }();
  return runnable;
}

const DrawKernels& draw_kernels() {
  static const DrawKernels& best = *runnable_draw_kernels().back();
  return best;
}

}  // namespace hone::evaluate
