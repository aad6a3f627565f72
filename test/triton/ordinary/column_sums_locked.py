# task: s = sum(x, axis=0) | x=f32[M,N] | M=60,N=40
# expect: accepted
"""hone
language = "triton"
workspaces = { locks = "zero i32[2]", part = "f32[N]" }
[[launch]]
kernel = "col_sum_locked"
grid = ["ceil_div(M, 16)"]
args = ["x", "part", "s", "locks", "i32:M", "i32:N", "i32:ceil_div(M, 16)", "=16", "=next_power_of_2(N)"]
"""
import triton
import triton.language as tl


@triton.jit
def col_sum_locked(x_ptr, part_ptr, out_ptr, lock_ptr, M, N, n_progs, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N), other=0.0)
    p = tl.sum(x, axis=0)
    count_ptr = lock_ptr + 1
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.store(part_ptr + rn, p, mask=rn < N)
    else:
        p += tl.load(part_ptr + rn, mask=rn < N)
        tl.store(part_ptr + rn, p, mask=rn < N)
    if count == n_progs - 1:
        tl.store(out_ptr + rn, p, mask=rn < N)
    tl.debug_barrier()
    tl.store(count_ptr, count + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
