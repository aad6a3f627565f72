# refused: very large
import triton
import triton.language as tl
N = 1 << 99999999999
@triton.jit
def k(x):
    tl.store(x, 1.0)
