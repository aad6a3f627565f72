# task: y = 2 * x + 1 | x=f32[1000] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["4"]
args   = ["x", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, y, n, B: tl.constexpr):
    for t in tl.range(tl.program_id(0), tl.cdiv(n, B), tl.num_programs(0), num_stages=2):
        i = t * B + tl.arange(0, B)
        tl.store(y + i, 2 * tl.load(x + i, mask=i < n) + 1, mask=i < n)
