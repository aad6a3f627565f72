# task: y = x * x + 1.0 | x=f32[500] |
# expect: accepted
"""hone
language = "triton"
tunables = { BLOCK = [128, 256] }
[[launch]]
kernel = "poly"
grid = ["ceil_div(500, BLOCK)"]
args = ["x", "y", "i32:500", "=BLOCK"]
"""
import triton
import triton.language as tl


@triton.jit(noinline=True)
def offset_of(pid, block):
    return pid * block


@triton.jit
def poly(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = offset_of(tl.program_id(0), BLOCK) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    tl.store(y_ptr + o, x * x + 1.0, mask=o < n)
