# refused: tl.core
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = tl.core.os.system('id')
