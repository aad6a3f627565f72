# refused: NamedExpr
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, (y := 1.0))
