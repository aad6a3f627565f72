# task: c = cast(a @ transpose(b, [1, 0]), bf16) | a=f8e4m3[64,128] b=f8e4m3[64,128] |
# expect: wrong
# expect of hip: does not compile: of another kind (fnuz)
"""hone
language = "tilelang"
[[launch]]
kernel = "matmul"
args   = ["a", "b", "c", "=64", "=64", "=128", "=32", "=32", "=64", "='float8_e4m3fn'"]
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def matmul(M, N, K, block_M, block_N, block_K, dtype, accum_dtype="float"):
    @T.prim_func
    def gemm_fp8(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), "bfloat16")):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=3):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True, clear_accum=True)
            T.copy(C_local, C[by * block_M, bx * block_N])
    return gemm_fp8
