# task: y = cumsum(x, axis=-1) | x=f32[R,C] | R=7,C=700
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "cumsum_rows"
grid = ["R"]
args = ["x", "y", "i32:C", "=256"]
"""
import triton
import triton.language as tl


@triton.jit
def cumsum_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = tl.zeros((1,), tl.float32)
    for s in range(0, n, BLOCK):
        o = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + o, mask=o < n, other=0.0)
        y = tl.cumsum(x, axis=0) + carry
        tl.store(y_ptr + row * n + o, y, mask=o < n)
        carry += tl.sum(x, axis=0)
