# refused: runs Python on tensors
import triton
import triton.language as tl
@triton.heuristics({'B': lambda a: 1})
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x, 1.0)
