# task: y = sum(x, axis=1, keepdims=true) | x=f32[5,300] |
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
    def main(X: T.Tensor((5, 300), "float32"), Y: T.Tensor((5, 1), "float32")):
        with T.Kernel(5, threads=128) as bx:
            acc = T.alloc_fragment((1, 128), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.clear(acc)
            for t in T.serial(T.ceildiv(300, 128)):
                for i, j in T.Parallel(1, 128):
                    acc[i, j] = acc[i, j] + T.if_then_else(t * 128 + j < 300, X[bx, t * 128 + j], T.float32(0))
            T.reduce_sum(acc, s, dim=1)
            for i in T.Parallel(1):
                Y[bx, i] = s[i]
    return main
