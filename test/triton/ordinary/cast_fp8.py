# task: y = cast(clamp(x, -448.0, 448.0), f8e4m3) | x=f32[N] | N=1000
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "to_fp8"
grid = ["ceil_div(N, 256)"]
args = ["x", "y", "i32:N", "=256"]
"""
import triton
import triton.language as tl


@triton.jit
def to_fp8(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    x = tl.clamp(x, -448.0, 448.0)
    tl.store(y_ptr + o, x.to(tl.float8e4nv), mask=o < n)
