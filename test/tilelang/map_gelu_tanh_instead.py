# task: y = 0.5 * x * (1 + erf(x / sqrt(2.0))) | x=f32[1000] |
# expect: wrong
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
                    Y[p] = 0.5 * X[p] * (1 + T.tanh(0.7978845608 * (X[p] + 0.044715 * X[p] * X[p] * X[p])))
    return main
