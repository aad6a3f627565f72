# task: y = 2 * x + 1 | x=f32[1000] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "null", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, b, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) * 2 + 1
    if b is not None:
        v += tl.load(b + i, mask=i < n)
    tl.store(y + i, v, mask=i < n)
