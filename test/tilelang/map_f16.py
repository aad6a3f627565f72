# task: y = 2 * x + 1 | x=f16[1000] |
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
    def main(X: T.Tensor((1000,), "float16"), Y: T.Tensor((1000,), "float16")):
        with T.Kernel(8, threads=128) as bx:
            for i in T.Parallel(128):
                p = bx * 128 + i
                if p < 1000:
                    Y[p] = T.cast(2 * T.cast(X[p], 'float32') + 1, 'float16')
    return main
