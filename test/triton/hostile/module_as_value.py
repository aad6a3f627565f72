# refused: used for what is in it
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = tl
    y.core
