# task: y = gelu(x, approximate="tanh") | x=f32[N] | N=777
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "gelu_kernel"
grid = ["ceil_div(N, 256)"]
args = ["x", "y", "i32:N"]
"""
import math

import triton
import triton.language as tl
from triton.language.extra.cuda.libdevice import tanh

kAlpha = tl.constexpr(math.sqrt(2.0 / math.pi))
BLOCK = tl.constexpr(256)
K2 = tl.constexpr(0.044715)
HALF = tl.constexpr(math.log2(math.sqrt(2.0)))


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    y = HALF * x * (1 + tanh((math.pi - math.pi + kAlpha) * (x + K2 * x * x * x)))
    tl.store(y_ptr + o, y, mask=o < n)
