# task: y = sum(x, axis=1) | x=f32[7,100] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["2"]
args   = ["x", "y", "i32:100", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, d, B: tl.constexpr):
    r = tl.program_id(0) * 4 + tl.arange(0, 4)
    i = tl.arange(0, B)
    v = tl.load(x + r[:, None] * d + i[None, :], mask=(r < 7)[:, None] & (i < d)[None, :], other=0.0)
    tl.store(y + r, tl.sum(v, 1), mask=r < 7)
