# refused: is Python, which runs where no kernel does
import math
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, math.factorial(100000))
