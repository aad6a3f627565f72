# task: y = relu(x) | x=f32[1000] | | nan
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL), mask=i < n)
