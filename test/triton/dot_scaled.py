# task: c = (a @ b) * 4.0 | a=f8e4m3[32,64] b=f8e4m3[64,32] |
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "mx_dot"
grid = ["1"]
args = ["a", "b", "c", "=32", "=32", "=64"]
"""
import triton
import triton.language as tl


@triton.jit
def mx_dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    sa = tl.full((M, K // 32), 128, tl.uint8)
    sb = tl.full((N, K // 32), 128, tl.uint8)
    acc = tl.dot_scaled(a, sa, "e4m3", b, sb, "e4m3")
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)
