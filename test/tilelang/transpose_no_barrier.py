# task: y = transpose(x, (1, 0)) | x=f32[40,50] |
# expect: launch fails: a race on shared memory
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "y"]
"""
import tilelang
import tilelang.language as T


@tilelang.jit(pass_configs={"tl.disable_thread_storage_sync": True})
def k():
    @T.prim_func
    def main(X: T.Tensor((40, 50), "float32"), Y: T.Tensor((50, 40), "float32")):
        with T.Kernel(2, 2, threads=128) as (bx, by):
            tile = T.alloc_shared((32, 32), "float32")
            T.copy(X[by * 32, bx * 32], tile)
            for j, i in T.Parallel(32, 32):
                if (bx * 32 + j < 50) & (by * 32 + i < 40):
                    Y[bx * 32 + j, by * 32 + i] = tile[i, j]
    return main
