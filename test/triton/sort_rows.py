# task: y = cumsum(x, axis=1) | x=f32[7,128] |
# expect: wrong
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["7"]
args   = ["x", "y", "i32:128", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, d, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + row * d + i, tl.sort(tl.load(x + row * d + i)))
