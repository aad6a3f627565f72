# refused: import of os
import triton
import triton.language as tl
import os
@triton.jit
def k(x):
    tl.store(x, 1.0)
