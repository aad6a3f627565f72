# refused: a decorator other
import triton
import triton.language as tl
@triton.jit
def d(f):
    return f
@d
@triton.jit
def k(x):
    tl.store(x, 1.0)
