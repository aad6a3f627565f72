# task: c = a @ b | a=bf16[70,500] b=bf16[500,90] |
# expect: wrong
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["a", "b", "c", "=70", "=90", "=500", "=32", "=32", "=16"]
"""
import tilelang
import tilelang.language as T


def k(M, N, K, BM, BN, BK):
    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M, N), "bfloat16")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=128) as (bx, by):
            As = T.alloc_shared((BM, BK), "bfloat16")
            Bs = T.alloc_shared((BK, BN), "bfloat16")
            acc = T.alloc_fragment((BM, BN), "bfloat16")
            T.clear(acc)
            for ko in T.Pipelined(T.ceildiv(K, BK), num_stages=2):
                T.copy(A[by * BM, ko * BK], As)
                T.copy(B[ko * BK, bx * BN], Bs)
                T.gemm(As, Bs, acc)
            T.copy(acc, C[by * BM, bx * BN])
    return main
