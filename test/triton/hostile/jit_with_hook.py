# refused: host code
import triton
import triton.language as tl
@triton.jit(launch_metadata=print)
def k(x):
    tl.store(x, 1.0)
