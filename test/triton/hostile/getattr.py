# refused: getattr
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = getattr(x, 'handle')
