# task: y = 2 * x + 1 | x=f32[1000] |
# expect: accepted
"""hone
language = "triton"
tunables = { BLOCK = [256, 64], WARPS = [4, 8] }

[[launch]]
kernel = "k"
grid   = ["ceil_div(1000, BLOCK)"]
args   = ["x", "y", "i32:1000", "=BLOCK"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n) + 1, mask=i < n)
