# refused: no power
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, 9 ** 999999999)
