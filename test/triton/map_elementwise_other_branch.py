# task: y = where(x > 0.0, x * 2.0, x * 3.0) | x=f32[700] |
# expect: wrong
"""hone
language = "triton"
[[launch]]
kernel = "me"
grid = ["ceil_div(700, 128)"]
args = ["x", "y", "i32:700", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def pick(x):
    if x < 0:
        return x * 2.0
    else:
        return x * 3.0


@triton.jit
def me(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0)
    y = tl.map_elementwise(pick, x)
    tl.store(y_ptr + o, y, mask=o < n)
