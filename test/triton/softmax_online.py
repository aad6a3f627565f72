# task: y = softmax(x, axis=-1) | x=f32[7,100] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["7"]
args   = ["x", "y", "i32:100", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, d, B: tl.constexpr):
    row = tl.program_id(0)
    m = -float('inf')
    s = 0.0
    for at in range(0, d, B):
        i = at + tl.arange(0, B)
        v = tl.load(x + row * d + i, mask=i < d, other=-float('inf'))
        now = tl.maximum(m, tl.max(v, 0))
        s = s * tl.exp(m - now) + tl.sum(tl.exp(v - now), 0)
        m = now
    for at in range(0, d, B):
        i = at + tl.arange(0, B)
        v = tl.load(x + row * d + i, mask=i < d, other=-float('inf'))
        tl.store(y + row * d + i, tl.exp(v - m) / s, mask=i < d)
