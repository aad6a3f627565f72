# task: y = 2 * x + 1 | x=f32[N,D] | N=12,D=40
# expect: accepted
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "y", "=N", "=D"]
"""
import tilelang
import tilelang.language as T


def k(N, D):
    @T.prim_func
    def main(X: T.Tensor((N, D), "float32"), Y: T.Tensor((N, D), "float32")):
        with T.Kernel(N, threads=64) as bx:
            for j in T.Parallel(T.ceildiv(D, 64) * 64):
                if j < D:
                    Y[bx, j] = 2 * X[bx, j] + 1
    return main
