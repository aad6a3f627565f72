# task: h = silu(g) * u | g=bf16[T,I] u=bf16[T,I] | T=11,I=300
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "swiglu_fwd"
grid = ["T", "ceil_div(I, BLOCK)"]
args = ["g", "u", "h", "i32:I"]
"""
import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.autotune(configs=[triton.Config(kwargs=dict(BLOCK=128), num_warps=1), triton.Config(kwargs=dict(BLOCK=256), num_warps=2)], key=["n"])
@triton.jit
def swiglu_fwd(g_ptr, u_ptr, h_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = col < n
    g = tl.load(g_ptr + row * n + col, mask=mask, other=0).to(tl.float32)
    u = tl.load(u_ptr + row * n + col, mask=mask, other=0)
    h = silu(g).cast(u.dtype) * u
    tl.store(h_ptr + row * n + col, h, mask=mask)
