# task: c = a @ b | a=bf16[M,K] b=bf16[K,N] | M=40,N=48,K=320 | 
# expect: accepted
"""hone
language = "triton"
workspaces = { acc = "zero f32[M, N]" }
[[launch]]
kernel = "splitk"
grid = ["ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)", "SPLIT_K"]
args = ["a", "b", "acc", "i32:M", "i32:N", "i32:K"]
[[launch]]
kernel = "cast_out"
grid = ["ceil_div(M * N, 512)"]
args = ["acc", "c", "i32:M*N", "=512"]
"""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32, "SPLIT_K": s}, num_warps=4) for s in (2, 4)], key=["M", "N", "K"], reset_to_zero=["c_ptr"])
@triton.jit
def splitk(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    grid_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // grid_n
    pid_n = pid % grid_n
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = pid_k * BLOCK_K + tl.arange(0, BLOCK_K)
    A = a_ptr + rm[:, None] * K + rk[None, :]
    B = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        k_remaining = K - k * (BLOCK_K * SPLIT_K)
        a = tl.load(A, mask=(rm[:, None] < M) & (rk[None, :] < k_remaining), other=0.0)
        b = tl.load(B, mask=(rk[:, None] < k_remaining) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        A += BLOCK_K * SPLIT_K
        B += BLOCK_K * SPLIT_K * N
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :], sem="relaxed")


@triton.jit
def cast_out(src, dst, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src + offs, mask=offs < n)
    tl.store(dst + offs, x.to(dst.dtype.element_ty), mask=offs < n)
