# refused: used for what is in it
import triton
import triton.language as tl
t = tl
@triton.jit
def k(x):
    tl.store(x, 1.0)
