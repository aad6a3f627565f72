# refused: no function of libdevice
import triton
import triton.language as tl
from triton.language.extra import libdevice
@triton.jit
def k(x):
    y = libdevice.core.os
