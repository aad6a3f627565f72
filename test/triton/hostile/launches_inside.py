# refused: not among
import triton
import triton.language as tl
@triton.jit
def k(x):
    k.run(x, grid=(1,))
