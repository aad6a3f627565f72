# refused: __builtins__
import triton
import triton.language as tl
@triton.jit
def k(x):
    __builtins__['open']('/tmp/a')
