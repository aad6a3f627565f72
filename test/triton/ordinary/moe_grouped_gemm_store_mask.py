# task: y = reshape(bmm(reshape(x, [E, T, K]), w), [E*T, N]) | x=bf16[E*T,K] w=bf16[E,K,N] | E=3,T=20,K=48,N=40
# expect: launch fails: in the same launch
"""hone
language = "triton"
workspaces = { offs = "i32[E + 1]" }
[[launch]]
kernel = "make_offsets"
grid = ["1"]
args = ["offs", "i32:E", "i32:T", "=next_power_of_2(E + 1)"]
[[launch]]
kernel = "moe_grouped_gemm"
grid = ["E", "ceil_div(T, BLOCK_M) * ceil_div(N, BLOCK_N)"]
args = ["x", "w", "y", "offs", "i32:N", "i32:K"]
"""
import triton
import triton.language as tl


@triton.jit
def make_offsets(offs_ptr, E, T, BLOCK: tl.constexpr):
    e = tl.arange(0, BLOCK)
    tl.store(offs_ptr + e, e * T, mask=e <= E)


@triton.autotune(configs=[triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4, num_stages=2), triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16}, num_warps=4, num_stages=2)], key=["N", "K"])
@triton.jit
def moe_grouped_gemm(x_ptr, w_ptr, y_ptr, offs_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    e = tl.program_id(0)
    pid = tl.program_id(1)
    begin = tl.load(offs_ptr + e)
    end = tl.load(offs_ptr + e + 1)
    num_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // num_n
    pid_n = pid % num_n
    if begin + pid_m * BLOCK_M >= end:
        return
    rm = begin + pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    w_base = w_ptr + e.to(tl.int64) * K * N
    for k in range(0, K, BLOCK_K):
        rk = k + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < end) & (rk[None, :] < K), other=0.0)
        w = tl.load(w_base + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, w)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16), mask=(rn[None, :] < N))
