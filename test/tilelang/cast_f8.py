# task: s0 = maximum(max(abs(x), axis=-1, keepdims=true), 0.0001) / 448.0; s = s0 + 0.0; y = cast(clamp(x / s0, -448.0, 448.0), f8e4m3) | x=f32[24,256] |
# expect: accepted
# expect of hip: does not compile: of another kind (fnuz)
"""hone
language = "tilelang"
[[launch]]
kernel = "per_token_cast_to_fp8"
args   = ["x", "y", "s", "=24", "=256", "=8"]
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1, 2])
def per_token_cast_to_fp8(M, N, blk_m):
    dtype = "float"
    fp8_min = -448.0
    fp8_max = 448.0

    @T.prim_func
    def per_token_cast(X: T.Tensor((M, N), dtype), X_fp8: T.Tensor((M, N), "float8_e4m3"), X_amax: T.Tensor((M, 1), dtype)):
        with T.Kernel(T.ceildiv(M, blk_m), threads=128) as bx:
            y_local = T.alloc_fragment((blk_m, N), dtype)
            y_amax_local = T.alloc_fragment((blk_m,), dtype)
            y_s_local = T.alloc_fragment((blk_m,), dtype)
            y_q_local = T.alloc_fragment((blk_m, N), dtype)
            y_q_local_fp8 = T.alloc_fragment((blk_m, N), "float8_e4m3")
            T.copy(X[bx * blk_m:(bx + 1) * blk_m, 0:N], y_local)
            T.reduce_absmax(y_local, y_amax_local, dim=1)
            for i in T.Parallel(blk_m):
                y_amax_local[i] = T.max(y_amax_local[i], 1e-4)
                y_s_local[i] = y_amax_local[i] / fp8_max
            for i, j in T.Parallel(blk_m, N):
                y_q_local[i, j] = T.clamp(y_local[i, j] / y_s_local[i], fp8_min, fp8_max)
            T.copy(y_q_local, y_q_local_fp8)
            for i in T.Parallel(blk_m):
                if bx * blk_m + i < M:
                    X_amax[bx * blk_m + i, 0] = y_s_local[i]
            T.copy(y_q_local_fp8, X_fp8[bx * blk_m:(bx + 1) * blk_m, 0:N])
    return per_token_cast
