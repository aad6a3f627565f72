# task: y = where(isnan(x), 0.0, maximum(x, 0.0)) | x=f32[N] | N=500 | nan
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "nan_to_num_relu"
grid = ["ceil_div(N, 128)"]
args = ["x", "y", "i32:N", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def nan_to_num_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    is_nan = x != x
    tl.store(y_ptr + o, tl.where(is_nan, 0.0, tl.where(x > 0, x, 0.0)), mask=o < n)
