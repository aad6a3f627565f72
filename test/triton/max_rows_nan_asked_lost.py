# task: y = max(x, axis=1) | x=f32[7,100] | | nan
# expect: wrong: NaN
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["7"]
args   = ["x", "y", "i32:100", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, d, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * d + i, mask=i < d, other=-float('inf'))
    tl.store(y + row, tl.max(v, 0))
