# task: y = sort(x, axis=-1, descending=true)[:, 0:8] | x=f32[R,C] | R=5,C=100
# expect: accepted
"""hone
language = "triton"
requires = ["C >= 8"]
[[launch]]
kernel = "topk_kernel"
grid = ["R"]
args = ["x", "y", "i32:C", "=next_power_of_2(C)"]
"""
import triton
import triton.language as tl


@triton.jit
def topk_kernel(x_ptr, y_ptr, n, N: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, N)
    x = tl.load(x_ptr + row * n + o, mask=o < n, other=float("-inf"))
    y = tl.topk(x, 8)
    tl.store(y_ptr + row * 8 + tl.arange(0, 8), y)
