# task: y = 2 * x + 1 | x=f32[N] | N=1000
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
    N = T.dynamic("N")

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 128), threads=128) as bx:
            for i in T.Parallel(128):
                p = bx * 128 + i
                if p < N:
                    Y[p] = 2 * X[p] + 1
    return main
