# refused: triton.runtime
import triton
import triton.language as tl
@triton.jit
def k(x):
    y = triton.runtime.driver.active
