# task: h = linear_scan(a, b, axis=1) | a=f32[B,T,D] b=f32[B,T,D] | B=2,T=50,D=40
# expect: wrong
"""hone
language = "triton"
[[launch]]
kernel = "ssm_scan"
grid = ["B", "ceil_div(D, 16)"]
args = ["a", "b", "h", "i32:T", "i32:D", "=next_power_of_2(T)", "=16"]
"""
import triton
import triton.language as tl


@triton.jit
def first_order_op(fl, xl, fr, xr):
    f = fr * fl
    x = fl * xr + xl
    return f, x


@triton.jit
def ssm_scan(a_ptr, b_ptr, h_ptr, T, D, BT: tl.constexpr, BD: tl.constexpr):
    pid_b = tl.program_id(0)
    pid_d = tl.program_id(1)
    t = tl.arange(0, BT)[:, None]
    d = pid_d * BD + tl.arange(0, BD)[None, :]
    offs = pid_b * T * D + t * D + d
    mask = (t < T) & (d < D)
    a = tl.load(a_ptr + offs, mask=mask, other=1.0)
    b = tl.load(b_ptr + offs, mask=mask, other=0.0)
    _, h = tl.associative_scan((a, b), 0, first_order_op)
    tl.store(h_ptr + offs, h, mask=mask)
