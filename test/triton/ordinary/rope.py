# task: a, b = split(x, [D, D], axis=-1); c = reshape(cos, [1, S, 1, D]); s = reshape(sin, [1, S, 1, D]); y = concat([a*c - b*s, b*c + a*s], axis=-1) | x=f32[B,S,H,2*D] cos=f32[S,D] sin=f32[S,D] | B=2,S=9,H=3,D=20
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "rope_kernel"
grid = ["B * S", "H"]
args = ["x", "cos", "sin", "y", "i32:S", "i32:H", "i32:D", "=next_power_of_2(D)"]
"""
import triton
import triton.language as tl


@triton.jit
def rope_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, seq_len, n_heads, half, BLOCK: tl.constexpr):
    tok = tl.program_id(0)
    head = tl.program_id(1)
    pos = tok % seq_len
    offs = tl.arange(0, BLOCK)
    m = offs < half
    c = tl.load(cos_ptr + pos * half + offs, mask=m, other=1.0)
    s = tl.load(sin_ptr + pos * half + offs, mask=m, other=0.0)
    base = (tok * n_heads + head) * (2 * half)
    x1 = tl.load(x_ptr + base + offs, mask=m)
    x2 = tl.load(x_ptr + base + half + offs, mask=m)
    tl.store(out_ptr + base + offs, x1 * c - x2 * s, mask=m)
    tl.store(out_ptr + base + half + offs, x2 * c + x1 * s, mask=m)
