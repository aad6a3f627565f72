# task: y = sum(x, axis=0) | x=f32[B,D] | B=100,D=70
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "col_sum"
grid = ["ceil_div(D, 32)"]
args = ["x", "y", "i32:B", "i32:D", "=32", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def col_sum(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, M, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        acc += tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
    tl.store(y_ptr + n, tl.sum(acc, axis=0), mask=n < N)
