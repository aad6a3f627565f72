# task: c = a @ b | a=f16[M,K] b=f16[K,N] | M=40,N=48,K=64
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "mm2"
grid = ["ceil_div(M, 16)", "ceil_div(N, 16)"]
args = ["a", "b", "c", "i32:M", "i32:N", "i32:K", "=16", "=16", "=32", "=tl.float32"]
"""
import triton
import triton.language as tl
from triton import jit
from triton.language import constexpr


@jit
def _offsets(pid_m, pid_n, BM: constexpr, BN: constexpr):
    return pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)


@jit
def mm2(a_ptr, b_ptr, c_ptr, M, N, K, BM: constexpr, BN: constexpr, BK: constexpr, ACC: constexpr):
    pid_m, pid_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), 4)
    rm, rn = _offsets(pid_m, pid_n, BM, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * K + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros([BM, BN], dtype=ACC)
    k_left = K
    while k_left > 0:
        a = tl.load(a_ptrs, mask=(rm < M)[:, None] & (rk < k_left)[None, :], other=0.0, eviction_policy="evict_last")
        b = tl.load(b_ptrs, mask=(rk < k_left)[:, None] & (rn < N)[None, :], other=0.0, cache_modifier=".cg")
        acc = tl.dot(a, b, acc, max_num_imprecise_acc=0)
        a_ptrs += BK
        b_ptrs += BK * N
        k_left -= BK
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=(rm < M)[:, None] & (rn < N)[None, :])
