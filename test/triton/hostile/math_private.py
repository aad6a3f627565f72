# refused: math.__loader__ is Python
import math
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, math.__loader__)
