# refused: import of triton.runtime
import triton
import triton.language as tl
import triton.runtime
@triton.jit
def k(x):
    tl.store(x, 1.0)
