// bfloat16 as TileLang's templates for AMD name it, by the compiler's own type.
#pragma once
#include <hip/hip_runtime.h>

struct hip_bfloat16 {
  unsigned short data;
  __host__ __device__ hip_bfloat16() = default;
  __device__ hip_bfloat16(float number) {
    const __bf16 rounded = static_cast<__bf16>(number);
    __builtin_memcpy(&data, &rounded, sizeof data);
  }
  __device__ operator float() const { return __builtin_bit_cast(float, static_cast<unsigned>(data) << 16); }
};
using __hip_bfloat16 = hip_bfloat16;

#define HONE_BRAIN(OP) \
  __device__ inline hip_bfloat16 operator OP(hip_bfloat16 a, hip_bfloat16 b) { return static_cast<float>(a) OP static_cast<float>(b); }
HONE_BRAIN(+) HONE_BRAIN(-) HONE_BRAIN(*) HONE_BRAIN(/)
#undef HONE_BRAIN
