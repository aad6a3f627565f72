# task: c = bmm(a, b) | a=f16[B,M,K] b=f16[B,K,N] | B=6,M=16,N=16,K=32
# expect: accepted
"""hone
language = "triton"
requires = ["M == 16", "N == 16", "K == 32"]
[[launch]]
kernel = "bmm3"
grid = ["ceil_div(B, 2)"]
args = ["a", "b", "c", "i32:B", "=2", "=16", "=16", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def bmm3(a_ptr, b_ptr, c_ptr, B, BB: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rb = (tl.program_id(0) * BB + tl.arange(0, BB))[:, None, None]
    m = tl.arange(0, M)[None, :, None]
    n = tl.arange(0, N)[None, None, :]
    ka = tl.arange(0, K)[None, None, :]
    kb = tl.arange(0, K)[None, :, None]
    a = tl.load(a_ptr + rb * M * K + m * K + ka, mask=rb < B, other=0.0)
    b = tl.load(b_ptr + rb * K * N + kb * N + n, mask=rb < B, other=0.0)
    c = tl.dot(a, b)
    tl.store(c_ptr + rb * M * N + m * N + n, c.to(tl.float16), mask=rb < B)
