# task: y = sum(x, axis=0, keepdims=true) | x=f32[9,64] |
# expect: launch fails: a race on memory
"""hone
language = "tilelang"
workspaces = { w = "zero f32[1, 64]" }

[[launch]]
kernel = "k"
args   = ["x", "w"]

[[launch]]
kernel = "copy"
args   = ["w", "y"]
"""
import tilelang
import tilelang.language as T


def k():
    @T.prim_func
    def main(X: T.Tensor((9, 64), "float32"), W: T.Tensor((1, 64), "float32")):
        with T.Kernel(9, threads=64) as bx:
            for j in T.Parallel(64):
                W[0, j] = W[0, j] + X[bx, j]
    return main


def copy():
    @T.prim_func
    def main(W: T.Tensor((1, 64), "float32"), Y: T.Tensor((1, 64), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for j in T.Parallel(64):
                Y[0, j] = W[0, j]
    return main
