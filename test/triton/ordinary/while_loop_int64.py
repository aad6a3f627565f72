# task: y = x * 3.0 | x=f32[R,C] | R=30,C=100
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "scale_rows"
grid = ["R"]
args = ["x", "y", "i64:C", "f32:3", "=64"]
"""
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, y_ptr, stride: tl.int64, alpha: tl.float32, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    n = stride
    start = tl.zeros((), tl.int64)
    while start < n:
        o = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * stride + o, mask=o < n)
        tl.store(y_ptr + row * stride + o, x * alpha, mask=o < n)
        start += BLOCK
