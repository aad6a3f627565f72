# refused: is no expression of the launch's whole numbers
import triton
import triton.language as tl
@triton.heuristics({'B': lambda args: args['x'].numel()})
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x, 1.0)
