# refused: Global is nothing
import triton
import triton.language as tl
@triton.jit
def k(x):
    global tl
    tl.store(x, 1.0)
