# task: y = gather(x, i) | x=f32[40] i=i64[100] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["1"]
args   = ["x", "i", "y", "i32:100", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, i, y, n, B: tl.constexpr):
    j = tl.arange(0, B)
    w = tl.load(i + j, mask=j < n, other=0)
    tl.store(y + j, tl.load(x + w, mask=j < n), mask=j < n)
