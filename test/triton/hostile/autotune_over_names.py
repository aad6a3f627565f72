# refused: goes over numbers written there
import triton
import triton.language as tl
@triton.autotune([triton.Config({'B': b}) for b in k.__class__], key=[])
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x, 1.0)
