# task: y = (x - mean(x, axis=-1, keepdims=true)) * rsqrt(var(x, axis=-1, keepdims=true) + 1e-5) * w + b | x=f32[7,100] w=f32[100] b=f32[100] |
# expect: wrong or less accurate
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["7"]
args   = ["x", "w", "b", "y", "i32:100", "f32:1e-5", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, w, b, y, d, eps, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * d + i, mask=i < d, other=0.0)
    mu = tl.sum(v, 0) / d
    c = v - mu
    var = tl.sum(c * c, 0) / d
    g = tl.load(w + i, mask=i < d)
    h = tl.load(b + i, mask=i < d)
    tl.store(y + row * d + i, c * tl.rsqrt(var + eps) * g + h, mask=i < d)
