# task: y = transpose(x, [1, 0]) | x=f32[70,100] |
# expect: wrong or launch fails
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["3", "4"]
args   = ["x", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.arange(0, 32)
    r = tl.program_id(0) * 32 + i
    c = tl.program_id(1) * 32 + i
    t = tl.load(x + r[:, None] * 100 + c[None, :], mask=(r < 70)[:, None] & (c < 100)[None, :])
    tl.store(y + c[:, None] * 64 + r[None, :], tl.trans(t), mask=(c < 100)[:, None] & (r < 64)[None, :])
