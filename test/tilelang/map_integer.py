# task: y = x + 3 | x=f32[1000] |
# expect: accepted
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "i32:3", "y"]
"""
import tilelang
import tilelang.language as T


def k():
    @T.prim_func
    def main(X: T.Tensor((1000,), "float32"), n: T.int32, Y: T.Tensor((1000,), "float32")):
        with T.Kernel(8, threads=128) as bx:
            for i in T.Parallel(128):
                p = bx * 128 + i
                if p < 1000:
                    Y[p] = X[p] + T.cast(n, "float32")
    return main
