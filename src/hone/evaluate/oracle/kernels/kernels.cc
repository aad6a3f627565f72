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

double roundings_of(task::Prim op) {
  using task::Prim;
  switch (op) {
    case Prim::kExp: case Prim::kExp2: case Prim::kExpm1: case Prim::kLog: case Prim::kLog2:
    case Prim::kLog1p: case Prim::kRsqrt: case Prim::kSin: case Prim::kCos: case Prim::kAsin:
    case Prim::kAcos: case Prim::kAtan: case Prim::kCosh: case Prim::kTanh: case Prim::kErf:
      return 4;
    case Prim::kTan: case Prim::kSinh: case Prim::kPow: case Prim::kAtan2:
      return 8;
    case Prim::kDiv: case Prim::kReciprocal: case Prim::kSqrt: case Prim::kFloorDiv:
      return 2;
    default:
      return 1;
  }
}

bool counts_exact_terms(task::Prim op) {
  using task::Prim;
  return op == Prim::kAdd || op == Prim::kSub || op == Prim::kMaximum || op == Prim::kMinimum ||
         op == Prim::kWhere;
}

}  // namespace hone::evaluate
