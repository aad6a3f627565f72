# task: c = (a @ b) * reshape(sa, [M, 1]) * reshape(sb, [1, N]) | a=f8e4m3[M,K] b=f8e4m3[K,N] sa=f32[M] sb=f32[N] | M=40,N=64,K=96
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "scaled_mm"
grid = ["ceil_div(M, 32)", "ceil_div(N, 32)"]
args = ["a", "b", "c", "sa", "sb", "i32:M", "i32:N", "i32:K", "=32", "=32", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def scaled_mm(a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        a = tl.load(a_ptr + rm[:, None] * K + (k0 + rk)[None, :], mask=(rm[:, None] < M) & ((k0 + rk)[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (k0 + rk)[:, None] * N + rn[None, :], mask=((k0 + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    sa = tl.load(sa_ptr + rm, mask=rm < M, other=0.0)
    sb = tl.load(sb_ptr + rn, mask=rn < N, other=0.0)
    acc = acc * sa[:, None] * sb[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
