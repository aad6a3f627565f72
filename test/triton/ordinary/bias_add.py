# task: y = x + b | x=f32[B,D] b=f32[D] | B=7,D=100
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "bias"
grid = ["B"]
args = ["x", "b", "y", "i32:D", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def bias(x, b, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        tl.store(y + row * n + i, tl.load(x + row * n + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)
