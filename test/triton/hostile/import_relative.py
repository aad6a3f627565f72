# refused: import of _C from None
import triton
import triton.language as tl
from . import _C
@triton.jit
def k(x):
    tl.store(x, 1.0)
