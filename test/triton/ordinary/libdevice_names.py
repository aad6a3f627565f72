# task: y = tanh(x) + atan2(x, z) + log1p(abs(x)) + erf(z) + expm1(x * 0.1) | x=f32[N] z=f32[N] | N=500
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "special"
grid = ["ceil_div(N, 128)"]
args = ["x", "z", "y", "i32:N", "=128"]
"""
import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def special(x_ptr, z_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o, mask=m)
    z = tl.load(z_ptr + o, mask=m)
    y = libdevice.tanh(x) + libdevice.atan2(x, z) + libdevice.log1p(tl.abs(x)) + tl.math.erf(z) + libdevice.expm1(x * 0.1)
    tl.store(y_ptr + o, y, mask=m)
