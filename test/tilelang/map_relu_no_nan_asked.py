# task: y = maximum(x, 0) | x=f32[1000] |
# expect: accepted
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "y"]
"""
import tilelang
import tilelang.language as T


def k():
    @T.prim_func
    def main(X: T.Tensor((1000,), "float32"), Y: T.Tensor((1000,), "float32")):
        with T.Kernel(8, threads=128) as bx:
            for i in T.Parallel(128):
                p = bx * 128 + i
                if p < 1000:
                    Y[p] = T.max(X[p], T.float32(0))
    return main
