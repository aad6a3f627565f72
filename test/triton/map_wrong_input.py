# task: y = a - b | a=f32[1000] b=f32[1000] |
# expect: wrong
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["a", "b", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(a, b, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(a + i, mask=i < n) * tl.load(b + i, mask=i < n), mask=i < n)
