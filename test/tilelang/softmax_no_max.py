# task: y = softmax(x, axis=1) | x=f32[7,100] |
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
    def main(X: T.Tensor((7, 100), "float32"), Y: T.Tensor((7, 100), "float32")):
        with T.Kernel(7, threads=128) as bx:
            x = T.alloc_fragment((1, 128), "float32")
            m = T.alloc_fragment((1,), "float32")
            s = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, 128):
                x[i, j] = T.if_then_else(j < 100, X[bx, j], -T.infinity("float32"))
            T.reduce_max(x, m, dim=1)
            for i, j in T.Parallel(1, 128):
                x[i, j] = T.exp(x[i, j])
            T.reduce_sum(x, s, dim=1)
            for i, j in T.Parallel(1, 128):
                if j < 100:
                    Y[bx, j] = x[i, j] / s[i]
    return main
