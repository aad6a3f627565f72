# refused: a decorator other
import triton
import triton.language as tl
@triton.jit
@tl.core.builtin
def k(x):
    tl.store(x, 1.0)
