# task: y = transpose(x, [1, 0]) | x=f32[M,N] | M=70,N=45
# expect: launch fails: stores
"""hone
language = "triton"
[[launch]]
kernel = "transpose_kernel"
grid = ["ceil_div(M, 32)", "ceil_div(N, 32)"]
args = ["x", "y", "i64:M", "i64:N", "=32", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, y_ptr, M: tl.int64, N: tl.int64, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(y_ptr + rn[:, None] * N + rm[None, :], x.trans(1, 0), mask=(rn[:, None] < N) & (rm[None, :] < M))
