# task: y = logsumexp(x, axis=-1) | x=f32[B,D] | B=7,D=100
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "lse"
grid = ["B"]
args = ["x", "y", "i32:D", "=64"]
"""
import triton
import triton.language as tl


@triton.jit
def lse(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = -float("inf")
    s = 0.0
    for at in range(0, n, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + row * n + i, mask=i < n, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(v, 0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(v - m_new), 0)
        m = m_new
    tl.store(y_ptr + row, m + tl.log(s))
