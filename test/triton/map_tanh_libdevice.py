# task: y = tanh(x) | x=f32[1000] |
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
from triton.language.extra import libdevice

@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, libdevice.tanh(tl.load(x + i, mask=i < n)), mask=i < n)
