# refused: is a module's name
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl = x
    tl.core
