# task: y = 2 * x + 1 | x=bf16[1000] |
# expect: less accurate or wrong
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
    w = (v * 256 + v).to(tl.bfloat16)
    tl.store(y + i, ((w.to(tl.float32) - v.to(tl.float32) * 256) * 2 + 1).to(tl.bfloat16), mask=i < n)
