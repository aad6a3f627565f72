# task: s0 = max(abs(x), axis=-1, keepdims=true) / 127.0; s = s0 + 0.0; q = i8(round(clamp(x / s0, -127.0, 127.0))) | x=f32[R,C] | R=9,C=300
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "quantize_rowwise"
grid = ["R"]
args = ["x", "q", "s", "i32:C", "=next_power_of_2(C)"]
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantize_rowwise(x_ptr, output_ptr, output_maxs, n_cols, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    arange = tl.arange(0, BLOCK)
    offsets = pid * n_cols + arange
    row_mask = arange < n_cols
    x = tl.load(x_ptr + offsets, mask=row_mask, other=0.0)
    max_val = tl.max(tl.abs(x), axis=0)
    scale = max_val / 127.0
    output = libdevice.rint(tl.clamp(tl.div_rn(x, scale), -127.0, 127.0))
    tl.store(output_ptr + offsets, output.to(tl.int8), mask=row_mask)
    tl.store(output_maxs + pid, scale)
