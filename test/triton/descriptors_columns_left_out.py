# task: y = 2 * x | x=f32[70,64] |
# expect: wrong
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["3"]
args   = ["x", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    r = tl.program_id(0) * 32
    d = tl.make_tensor_descriptor(x, shape=[70, 64], strides=[64, 1], block_shape=[32, 16])
    e = tl.make_tensor_descriptor(y, shape=[70, 64], strides=[64, 1], block_shape=[32, 16])
    for c in range(0, 64, 32):
        e.store([r, c], d.load([r, c]) * 2)
