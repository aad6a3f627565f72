# refused: eval
import triton
import triton.language as tl
@triton.jit
def k(x):
    eval('1')
