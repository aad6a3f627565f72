# task: y = x * 15.0 | x=f32[N] | N=700
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "t"
grid = ["ceil_div(N, 128)"]
args = ["x", "y", "i32:N", "=128"]
"""
import triton
import triton.language as tl

WEIGHTS = tl.constexpr((1.0, 2.0, 4.0, 8.0))


@triton.jit
def t(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0.)
    acc = x * 0.0
    for i in tl.static_range(len(WEIGHTS)):
        acc += x * WEIGHTS[i]
    tl.device_assert(n > 0, "empty")
    tl.store(y_ptr + o, acc, mask=o < n)
