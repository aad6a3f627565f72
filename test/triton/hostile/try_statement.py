# refused: Try is nothing
import triton
import triton.language as tl
@triton.jit
def k(x):
    try:
        tl.store(x, 1.0)
    except:
        pass
