# refused: this out
import triton
import triton.language as tl
class A:
    pass
@triton.jit
def k(x):
    tl.store(x, 1.0)
