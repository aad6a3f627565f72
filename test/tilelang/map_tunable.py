# task: y = 2 * x + 1 | x=f32[1000] |
# expect: accepted
"""hone
language = "tilelang"
tunables = { BLOCK = [256, 512], THREADS = [64, 128] }

[[launch]]
kernel = "k"
args   = ["x", "y", "=1000", "=BLOCK", "=THREADS"]
"""
import tilelang
import tilelang.language as T


def k(N, BLOCK, THREADS):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, BLOCK), threads=THREADS) as bx:
            for i in T.Parallel(BLOCK):
                p = bx * BLOCK + i
                if p < N:
                    Y[p] = 2 * X[p] + 1
    return main
