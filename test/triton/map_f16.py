# task: y = 2 * x + 1 | x=f16[1000] |
# expect: accepted
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
    tl.store(y + i, (2 * tl.load(x + i, mask=i < n).to(tl.float32) + 1).to(tl.float16), mask=i < n)
