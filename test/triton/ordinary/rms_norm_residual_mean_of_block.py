# task: s0 = x + r; s = s0 + 0.0; y = rms_norm(s0, w, axis=-1, eps=1e-6) | x=bf16[T,D] r=bf16[T,D] w=bf16[D] | T=13,D=1000
# expect: wrong
"""hone
language = "triton"
[[launch]]
kernel = "fused_add_rms_norm"
grid = ["T"]
args = ["x", "r", "w", "y", "s", "i32:D", "f32:0.000001", "=next_power_of_2(D)"]
"""
import triton
import triton.language as tl


@triton.jit
def fused_add_rms_norm(x_ptr, res_ptr, w_ptr, out_ptr, res_out_ptr, D, eps, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK_D)
    mask = offs < D
    x = tl.load(x_ptr + row * D + offs, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(res_ptr + row * D + offs, mask=mask, other=0.0).to(tl.float32)
    s = (x + r).to(tl.bfloat16)
    tl.store(res_out_ptr + row * D + offs, s, mask=mask)
    s = s.to(tl.float32)
    var = tl.sum(s * s, axis=0) / BLOCK_D
    w = tl.load(w_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    y = s * tl.rsqrt(var + eps) * w
    tl.store(out_ptr + row * D + offs, y.to(tl.bfloat16), mask=mask)
