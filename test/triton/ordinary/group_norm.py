# task: y = group_norm(x, 4, w, b, eps=1e-5) | x=f32[B,4*G,H,W] w=f32[4*G] b=f32[4*G] | B=2,G=3,H=9,W=11
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "group_norm_kernel"
grid = ["B", "4"]
args = ["x", "y", "w", "b", "i32:G * H * W", "i32:H * W", "i32:G", "i32:4", "f32:0.00001", "=next_power_of_2(H * W)"]
"""
import triton
import triton.language as tl


@triton.jit
def group_norm_kernel(X, Y, W, Bias, group_elems, hw, c_per_g, n_groups, eps, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    g = tl.program_id(1)
    base = (n * n_groups + g) * group_elems
    offs = tl.arange(0, BLOCK)
    s = 0.0
    for c in range(c_per_g):
        x = tl.load(X + base + c * hw + offs, mask=offs < hw, other=0.0)
        s += tl.sum(x, axis=0)
    mean = s / group_elems
    v = 0.0
    for c in range(c_per_g):
        x = tl.load(X + base + c * hw + offs, mask=offs < hw, other=0.0)
        d = tl.where(offs < hw, x - mean, 0.0)
        v += tl.sum(d * d, axis=0)
    rstd = tl.rsqrt(v / group_elems + eps)
    for c in range(c_per_g):
        ch = g * c_per_g + c
        w = tl.load(W + ch)
        b = tl.load(Bias + ch)
        x = tl.load(X + base + c * hw + offs, mask=offs < hw, other=0.0)
        tl.store(Y + base + c * hw + offs, (x - mean) * rstd * w + b, mask=offs < hw)
