# refused: Import is nothing
import triton
import triton.language as tl
@triton.jit
def k(x):
    import sys
    tl.store(x, 1.0)
