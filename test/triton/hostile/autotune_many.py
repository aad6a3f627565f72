# refused: plain list
import triton
import triton.language as tl
@triton.autotune([triton.Config({'B': b}) for b in (1, 2)], key=[])
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x, 1.0)
