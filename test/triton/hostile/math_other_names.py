# refused: import of factorial from math
from math import factorial
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, 1.0)
