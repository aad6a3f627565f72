# refused: import of libtriton
import triton
import triton.language as tl
from triton._C import libtriton
@triton.jit
def k(x):
    tl.store(x, 1.0)
