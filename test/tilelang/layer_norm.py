# task: y = (x - mean(x, axis=1, keepdims=true)) * rsqrt(mean((x - mean(x, axis=1, keepdims=true)) * (x - mean(x, axis=1, keepdims=true)), axis=1, keepdims=true) + 1e-5) | x=f32[6,200] |
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
    def main(X: T.Tensor((6, 200), "float32"), Y: T.Tensor((6, 200), "float32")):
        with T.Kernel(6, threads=128) as bx:
            x = T.alloc_fragment((1, 256), "float32")
            q = T.alloc_fragment((1, 256), "float32")
            m = T.alloc_fragment((1,), "float32")
            v = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, 256):
                x[i, j] = T.if_then_else(j < 200, X[bx, j], T.float32(0))
            T.reduce_sum(x, m, dim=1)
            for i, j in T.Parallel(1, 256):
                x[i, j] = T.if_then_else(j < 200, x[i, j] - m[i] / 200, T.float32(0))
                q[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(q, v, dim=1)
            for i, j in T.Parallel(1, 256):
                if j < 200:
                    Y[bx, j] = x[i, j] / T.sqrt(v[i] / 200 + T.float32(1e-5))
    return main
