# refused: Lambda
import triton
import triton.language as tl
@triton.jit
def k(x, f=lambda: 1):
    tl.store(x, 1.0)
