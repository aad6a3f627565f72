# task: y = softmax(q @ transpose(k, [1, 0]) * 0.25, axis=-1) @ v | q=f32[50,16] k=f32[50,16] v=f32[50,16] |
# expect: wrong
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["4"]
args   = ["q", "k", "v", "y", "f32:0.25", "i32:50", "=16", "=16", "=16"]
"""
import triton
import triton.language as tl


@triton.jit
def k(q, k, v, y, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q_ = tl.load(q + i[:, None] * D + d[None, :], mask=(i < n)[:, None], other=0.0)
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for at in range(0, n, BN):
        j = at + tl.arange(0, BN)
        k_ = tl.load(k + j[:, None] * D + d[None, :], mask=(j < n)[:, None], other=0.0)
        v_ = tl.load(v + j[:, None] * D + d[None, :], mask=(j < n)[:, None], other=0.0)
        s = tl.dot(q_, tl.trans(k_), input_precision='ieee') * scale
        s = tl.where((j < n)[None, :], s, -float('inf'))
        now = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        l = l + tl.sum(p, 1)
        acc = acc * tl.exp(m - now)[:, None]
        acc = tl.dot(p, v_, acc, input_precision='ieee')
        m = now
    tl.store(y + i[:, None] * D + d[None, :], acc / l[:, None], mask=(i < n)[:, None])
