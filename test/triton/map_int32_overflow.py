# task: y = 2 * x + 1 | x=f32[1000] |
# expect: launch fails: 32-bit integers
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
    j = (i * 4194304) // 4194304
    tl.store(y + i, 2 * tl.load(x + j, mask=i < n) + 1, mask=i < n)
