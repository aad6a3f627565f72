# refused: ListComp
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = [i for i in (1, 2)]
