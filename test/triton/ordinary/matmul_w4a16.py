# task: wi = i32(w); wu = where(wi < 0, wi + 256, wi); lo = mod(wu, 16); hi = floor_divide(wu, 16); q = reshape(stack([lo, hi], axis=2), [N, 2*K]); wf = (f16(q) - 8.0) * reshape(sc, [N, 1]); y = x @ transpose(wf, [1, 0]) | x=f16[M,2*K] w=i8[N,K] sc=f16[N] | M=20,N=48,K=64
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "w4a16_gemm"
grid = ["ceil_div(M, 16)", "ceil_div(N, 32)"]
args = ["x", "w", "sc", "y", "i32:M", "i32:N", "i32:2*K", "=16", "=32", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def w4a16_gemm(x_ptr, w_ptr, s_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    s = tl.load(s_ptr + rn, mask=rn < N, other=0.0)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        rp = k // 2 + tl.arange(0, BK // 2)
        packed = tl.load(w_ptr + rn[:, None] * (K // 2) + rp[None, :], mask=(rn[:, None] < N) & (rp[None, :] < K // 2), other=0)
        lo = (packed & 0xF).to(tl.float16)
        hi = ((packed >> 4) & 0xF).to(tl.float16)
        w = tl.interleave(lo, hi)
        w = (w - 8.0) * s[:, None]
        acc += tl.dot(x, tl.trans(w))
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
