#include "hone/evaluate/oracle/kernels/kernels.h"

#include "hone/base/result.h"

namespace hone::evaluate {

extern const Kernels kKernels_base;
#if defined(__x86_64__)
extern const Kernels kKernels_avx2;
extern const Kernels kKernels_avx512;
#endif

namespace {

const Kernels& choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return kKernels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kKernels_avx2;
#endif
  return kKernels_base;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

void no_such_kernel(task::Prim op) {
  HONE_CHECK(false, task::name_of(op));
  __builtin_unreachable();
}

}  // namespace hone::evaluate
