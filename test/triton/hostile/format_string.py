# refused: JoinedStr
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.static_assert(True, f'{x.handle}')
