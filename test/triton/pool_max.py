# task: y = max(x, axis=1) | x=f32[7,3] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["1"]
args   = ["x", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y):
    r = tl.arange(0, 8)
    m = tl.load(x + r * 3, mask=r < 7)
    for j in tl.static_range(1, 3):
        m = tl.maximum(m, tl.load(x + r * 3 + j, mask=r < 7), propagate_nan=tl.PropagateNan.ALL)
    tl.store(y + r, m, mask=r < 7)
