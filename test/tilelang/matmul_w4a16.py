# task: wi = i32(w); wu = where(wi < 0, wi + 256, wi); q = reshape(stack([mod(wu, 16), floor_divide(wu, 16)], axis=2), [32, 2*32]); y = f32(x) @ transpose(f32(q), [1, 0]) | x=f16[32,2*32] w=i8[32,32] |
# expect: accepted
"""hone
language = "tilelang"
[[launch]]
kernel = "dequant_gemm"
args   = ["x", "w", "y", "=32", "=32", "=64"]
"""
import tilelang
import tilelang.language as T


def dequant_gemm(M, N, K, block_M=32, block_N=32, block_K=32):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K // 2), "int8"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), "float16")
            B_shared = T.alloc_shared((block_N, block_K // 2), "int8")
            B_dequant = T.alloc_shared((block_N, block_K), "float16")
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for ko in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, ko * block_K], A_shared)
                T.copy(B[bx * block_N, ko * block_K // 2], B_shared)
                for i, j in T.Parallel(block_N, block_K):
                    B_dequant[i, j] = T.cast((B_shared[i, j // 2] >> ((j % 2) * 4)) & 0xF, "float16")
                T.gemm(A_shared, B_dequant, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])
    return main
