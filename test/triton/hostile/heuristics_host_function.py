# refused: is no lambda of one argument
import triton
import triton.language as tl
@triton.heuristics({'B': print})
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x, 1.0)
