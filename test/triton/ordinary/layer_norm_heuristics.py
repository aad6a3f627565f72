# task: y = layer_norm(x, w, axis=-1, eps=1e-5) | x=f32[M,N] w=f32[N] | M=23,N=600
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "ln"
grid = ["M"]
args = ["x", "y", "w", "null", "i32:N", "f32:0.00001"]
"""
import triton
import triton.language as tl


@triton.heuristics({"HAS_BIAS": lambda args: args["b_ptr"] is not None, "BLOCK": lambda args: triton.next_power_of_2(args["N"]), "num_warps": lambda args: max(min(triton.next_power_of_2(args["N"]) // 256, 8), 1)})
@triton.jit
def ln(x_ptr, y_ptr, w_ptr, b_ptr, N, eps, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    m = o < N
    x = tl.load(x_ptr + row * N + o, mask=m, other=0.0)
    mean = tl.sum(x, 0) / N
    d = tl.where(m, x - mean, 0.0)
    var = tl.sum(d * d, 0) / N
    y = d * (1 / tl.sqrt(var + eps)) * tl.load(w_ptr + o, mask=m)
    if HAS_BIAS:
        y += tl.load(b_ptr + o, mask=m)
    tl.store(y_ptr + row * N + o, y, mask=m)
