# task: a = x[:, ::2]; b = x[:, 1::2]; y = reshape(stack([b, a], axis=2), [R, 64]) | x=f32[R,64] | R=9
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "swap_pairs"
grid = ["R"]
args = ["x", "y", "=64"]
"""
import triton
import triton.language as tl


@triton.jit
def swap_pairs(x_ptr, y_ptr, D: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, D)
    x = tl.load(x_ptr + row * D + o)
    a, b = tl.split(tl.reshape(x, (D // 2, 2)))
    y = tl.interleave(b, a)
    tl.store(y_ptr + row * D + o, y)
