# refused: host code
import triton
import triton.language as tl
def run(x):
    return x
@triton.jit
def k(x):
    tl.store(x, 1.0)
