# refused: import of *
import triton
import triton.language as tl
from triton.language import *
@triton.jit
def k(x):
    tl.store(x, 1.0)
