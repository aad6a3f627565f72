# task: y = tanh(x) | x=f32[1000] |
# expect: wrong or less accurate
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    e = tl.exp(2 * v)
    tl.store(y + i, (e - 1) / (e + 1), mask=i < n)
