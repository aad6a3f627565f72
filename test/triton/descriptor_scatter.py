# task: y = flip(x, axis=0) | x=f32[32,64] |
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "k"
grid = ["1"]
args = ["x", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, R: tl.constexpr = 32, D: tl.constexpr = 64):
    r = tl.arange(0, R)
    rows = tl.load(x + r[:, None] * D + tl.arange(0, D)[None, :])
    desc = tl.make_tensor_descriptor(y, shape=[R, D], strides=[D, 1], block_shape=[1, D])
    desc.scatter(rows, R - 1 - r, 0)
