# task: a = mod(x, 1024) + 1; y = i32(floor(log2(f64(a)))) + i32(round(z)) + i32(z < 0.0) | x=i32[700]:index(100000) z=f32[700] |
# expect: wrong
"""hone
language = "triton"
[[launch]]
kernel = "ints"
grid = ["ceil_div(700, 128)"]
args = ["x", "z", "y", "i32:700", "=128"]
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def ints(x_ptr, z_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0)
    z = tl.load(z_ptr + o, mask=o < n, other=0.0)
    a = x % 1024 + 1
    msb = 31 - libdevice.clz(a)
    sign = (libdevice.float_as_int(z) >> 31) & 1
    tl.store(y_ptr + o, msb + libdevice.float2int_rd(z) + tl.where(z < 0, sign, 0), mask=o < n)
