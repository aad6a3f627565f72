# task: y = var(x, axis=-1) | x=f32[M,N] | M=23,N=600
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "var_rows"
grid = ["M"]
args = ["x", "y", "i32:N", "=256"]
"""
import triton
import triton.language as tl


@triton.jit
def welford(m1, s1, w1, m2, s2, w2):
    delta = m2 - m1
    w = w1 + w2
    r = tl.where(w == 0.0, 0.0, w2 / w)
    return m1 + delta * r, s1 + s2 + delta * delta * w1 * r, w


@triton.jit
def var_rows(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.zeros([BLOCK], tl.float32)
    m2 = tl.zeros([BLOCK], tl.float32)
    weight = tl.zeros([BLOCK], tl.float32)
    for s in range(0, N, BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < N
        x = tl.load(x_ptr + row * N + o, mask=m, other=0.0)
        nw = weight + 1
        d = x - mean
        nm = mean + d / nw
        nm2 = m2 + d * (x - nm)
        mean = tl.where(m, nm, mean)
        m2 = tl.where(m, nm2, m2)
        weight = tl.where(m, nw, weight)
    a, b, c = tl.reduce((mean, m2, weight), 0, welford)
    tl.store(y_ptr + row, b / c)
