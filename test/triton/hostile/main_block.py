# refused: this out
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, 1.0)
if 1:
    k[(1,)](None)
