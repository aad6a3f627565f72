# task: y = 2 * x + 1 | x=f32[1000] |
# expect: does not compile: k returns str, no T.prim_func
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "y"]
"""
import tilelang
import tilelang.language as T


def k():
    return "__global__ void k() {}"
