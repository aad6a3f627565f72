# task: y = x * x - 7 | x=i64[1000] |
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
    def main(X: T.Tensor((1000,), "int64"), Y: T.Tensor((1000,), "int64")):
        with T.Kernel(8, threads=128) as bx:
            for i in T.Parallel(128):
                p = bx * 128 + i
                if p < 1000:
                    Y[p] = X[p] * X[p] - 7
    return main
