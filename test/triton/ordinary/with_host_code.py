# task: y = 2 * x | x=f32[N] | N=1000
# expect: refused: import of torch
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid = ["ceil_div(N, 256)"]
args = ["x", "y", "i32:N", "=256"]
"""
import triton
import triton.language as tl


import torch


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def twice(x):
    y = torch.empty_like(x)
    k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
