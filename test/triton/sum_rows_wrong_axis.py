# task: y = sum(x, axis=1) | x=f32[7,100] |
# expect: wrong or launch fails
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["1"]
args   = ["x", "y", "i32:100", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, d, B: tl.constexpr):
    r = tl.arange(0, 8)
    i = tl.arange(0, B)
    v = tl.load(x + r[:, None] * d + i[None, :], mask=(r < 7)[:, None] & (i < d)[None, :], other=0.0)
    tl.store(y + i, tl.sum(v, 0), mask=i < 7)
