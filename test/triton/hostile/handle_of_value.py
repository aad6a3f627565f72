# refused: attribute handle
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = x.handle
