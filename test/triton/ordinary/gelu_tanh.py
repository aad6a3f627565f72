# task: y = 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))) | x=f32[N] | N=1000
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "gelu"
grid = ["ceil_div(N, 256)"]
args = ["x", "y", "i32:N", "=256"]
"""
import triton
import triton.language as tl


from triton.language.extra import libdevice


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = 0.5 * x * (1 + libdevice.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    tl.store(y_ptr + i, y, mask=i < n)
