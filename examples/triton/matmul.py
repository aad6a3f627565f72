"""hone
language = "triton"
tunables = { BM = [128, 64], BN = [128, 256], BK = [64, 32], WARPS = [8, 4], STAGES = [3, 4] }

[[launch]]
kernel = "matmul"
grid   = ["ceil_div(M, BM)", "ceil_div(N, BN)"]
warps  = "WARPS"
stages = "STAGES"
args   = ["a", "b", "c", "i32:M", "i32:N", "i32:K", "=BM", "=BN", "=BK"]
"""
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + m.to(tl.int64)[:, None] * K + (at + k)[None, :], mask=(m < M)[:, None] & (at + k < K)[None, :], other=0.0)
        y = tl.load(b + (at + k).to(tl.int64)[:, None] * N + n[None, :], mask=(at + k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m.to(tl.int64)[:, None] * N + n[None, :], acc.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])
