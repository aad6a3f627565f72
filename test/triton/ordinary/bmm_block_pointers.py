# task: c = bmm(a, b) | a=f16[B,M,K] b=f16[B,K,N] | B=3,M=50,N=40,K=70
# expect: does not compile: Block pointers have been removed
"""hone
language = "triton"
[[launch]]
kernel = "bmm_kernel"
grid = ["ceil_div(M, 32)", "ceil_div(N, 32)", "B"]
args = ["a", "b", "c", "i32:M", "i32:N", "i32:K", "i32:M*K", "i32:K", "i32:K*N", "i32:N", "i32:M*N", "i32:N", "=32", "=32", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def bmm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sab, sam, sbb, sbk, scb, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    bid = tl.program_id(2)
    a_blk = tl.make_block_ptr(base=a_ptr + bid * sab, shape=(M, K), strides=(sam, 1), offsets=(pid_m * BM, 0), block_shape=(BM, BK), order=(1, 0))
    b_blk = tl.make_block_ptr(base=b_ptr + bid * sbb, shape=(K, N), strides=(sbk, 1), offsets=(0, pid_n * BN), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_blk, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_blk, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        a_blk = tl.advance(a_blk, (0, BK))
        b_blk = tl.advance(b_blk, (BK, 0))
    c_blk = tl.make_block_ptr(base=c_ptr + bid * scb, shape=(M, N), strides=(scm, 1), offsets=(pid_m * BM, pid_n * BN), block_shape=(BM, BN), order=(1, 0))
    tl.store(c_blk, acc.to(tl.float16), boundary_check=(0, 1))
