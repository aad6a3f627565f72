# refused: attribute __bases__
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = x.__class__.__bases__
