# task: i = argmax(x, axis=-1) | x=f32[R,C] | R=9,C=333
# expect: accepted
"""hone
language = "triton"
requires = ["C <= 512"]
[[launch]]
kernel = "argmax_kernel"
grid = ["R"]
args = ["x", "i", "i32:C", "=512"]
"""
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + o, mask=o < n, other=-float("inf"))
    idx = tl.argmax(x, axis=0, tie_break_left=True)
    tl.store(out_ptr + row, idx.to(tl.int64))
