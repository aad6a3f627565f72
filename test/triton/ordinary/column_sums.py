# task: y = sum(x, axis=0) | x=f32[B,D] | B=70,D=100
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "column_sums"
grid = ["ceil_div(D, BN)"]
args = ["x", "y", "i32:B", "i32:D"]
"""
import triton
import triton.language as tl

configs = [triton.Config({"BM": m, "BN": n}, num_warps=w, num_stages=2) for m in (64, 16) for n in [32, 128] for w in range(4, 9, 4) if m * n < 8192]


@triton.autotune(configs=configs, key=["N"])
@triton.jit
def column_sums(X, Y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, M, BM):
        rows = at + tl.arange(0, BM)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        total += tl.load(X + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(Y + cols, tl.sum(total, axis=0), mask=cols < N)
