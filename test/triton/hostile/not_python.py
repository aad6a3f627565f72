# refused: it is no Python
import triton
import triton.language as tl
@triton.jit
def k(x)
    tl.store(x, 1.0)
