# task: y = maximum(x, z) | x=f32[N] z=f32[N] | N=500 | nan
# expect: wrong
"""hone
language = "triton"
[[launch]]
kernel = "emax"
grid = ["ceil_div(N, 128)"]
args = ["x", "z", "y", "i32:N", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def emax(x_ptr, z_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    z = tl.load(z_ptr + o, mask=o < n)
    tl.store(y_ptr + o, tl.maximum(x, z), mask=o < n)
