# task: y = x * 1 | x=f32[7,64] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["7"]
args   = ["x", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    row = tl.program_id(0)
    a, b = tl.split(tl.reshape(tl.load(x + row * 64 + tl.arange(0, 64)), (32, 2)))
    i = tl.arange(0, 32)
    tl.store(y + row * 64 + 2 * i, a)
    tl.store(y + row * 64 + 2 * i + 1, b)
