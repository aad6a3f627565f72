# refused: import of core from triton.language.extra.libdevice
import triton
import triton.language as tl
from triton.language.extra.libdevice import core
@triton.jit
def k(x):
    tl.store(x, 1.0)
