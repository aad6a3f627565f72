# task: y = conv1d(x, w, b, padding=3, groups=D)[:, :, 0:T] | x=f32[B,D,T] w=f32[D,1,4] b=f32[D] | B=2,D=7,T=50
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "causal_conv1d"
grid = ["B * D", "ceil_div(T, 32)"]
args = ["x", "w", "b", "y", "i32:D", "i32:T", "=32", "=4"]
"""
import triton
import triton.language as tl


@triton.jit
def causal_conv1d(x_ptr, w_ptr, b_ptr, y_ptr, D, T, BLOCK_T: tl.constexpr, WIDTH: tl.constexpr):
    bd = tl.program_id(0)
    d = bd % D
    t = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    acc = tl.full((BLOCK_T,), 0.0, tl.float32) + tl.load(b_ptr + d)
    for i in tl.static_range(0, WIDTH):
        src = t - (WIDTH - 1) + i
        xv = tl.load(x_ptr + bd * T + src, mask=(src >= 0) & (src < T), other=0.0)
        acc += xv * tl.load(w_ptr + d * WIDTH + i)
    tl.store(y_ptr + bd * T + t, acc, mask=t < T)
