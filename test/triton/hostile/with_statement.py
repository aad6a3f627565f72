# refused: With is nothing
import triton
import triton.language as tl
@triton.jit
def k(x):
    with x:
        tl.store(x, 1.0)
