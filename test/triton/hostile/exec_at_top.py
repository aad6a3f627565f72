# refused: this out
import triton
import triton.language as tl
exec('import os')
@triton.jit
def k(x):
    tl.store(x, 1.0)
