# task: y = 2 * x + 1 | x=f32[1000] |
# expect: launch fails
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
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n) + 1, mask=i < n)
    tl.debug_barrier()
    v = tl.load(y + i + 1, mask=i + 1 < n)
    tl.store(y + i, tl.where(i + 1 < n, v * 0, 0.0) + 2 * tl.load(x + i, mask=i < n) + 1, mask=i < n)
