# task: c = f32(i32(a) @ i32(b)) * 0.5 | a=i8[M,K] b=i8[K,N] | M=40,N=32,K=64
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "mm_i8"
grid = ["ceil_div(M, 32)", "ceil_div(N, 32)"]
args = ["a", "b", "c", "i32:M", "i32:N", "i32:K", "=32", "=32", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def mm_i8(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float32) * 0.5, mask=(rm[:, None] < M) & (rn[None, :] < N))
