# refused: import of system
import triton
import triton.language as tl
from os import system
@triton.jit
def k(x):
    tl.store(x, 1.0)
