# task: y = clamp(x, -1.0, 2.0) | x=f32[1000] | | nan
# expect: accepted
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "y"]
"""
import tilelang.language as T


@T.prim_func
def k(X: T.Tensor((1000,), "float32"), Y: T.Tensor((1000,), "float32")):
    with T.Kernel(T.ceildiv(1000, 256), threads=128) as bx:
        for i in T.Parallel(256):
            if bx * 256 + i < 1000:
                Y[bx * 256 + i] = T.clamp(X[bx * 256 + i], -1.0, 2.0)
