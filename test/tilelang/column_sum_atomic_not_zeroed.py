# task: y = sum(x, axis=0, keepdims=true) | x=f32[9,64] |
# expect: launch fails: reads memory that nothing has written
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
    def main(X: T.Tensor((9, 64), "float32"), Y: T.Tensor((1, 64), "float32")):
        with T.Kernel(9, threads=64) as bx:
            for j in T.Parallel(64):
                T.atomic_add(Y[0, j], X[bx, j])
    return main
