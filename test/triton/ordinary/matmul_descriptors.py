# task: c = a @ transpose(b, [1, 0]) | a=f16[M,K] b=f16[N,K] | M=96,N=64,K=128
# expect: accepted
"""hone
language = "triton"
requires = ["K % 8 == 0", "N % 8 == 0"]
[[launch]]
kernel = "matmul_tma"
grid = ["ceil_div(M, 32) * ceil_div(N, 32)"]
args = ["a", "b", "c", "i32:M", "i32:N", "i32:K", "=32", "=32", "=64"]
"""
import triton
import triton.language as tl


@triton.jit
def matmul_tma(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    pid = tl.program_id(0)
    grid_n = tl.cdiv(N, BN)
    off_m = (pid // grid_n) * BM
    off_n = (pid % grid_n) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = a_desc.load([off_m, k])
        b = b_desc.load([off_n, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([off_m, off_n], acc.to(tl.float16))
