# task: y = 2 * x + 1 | x=f32[1000] |
# expect: does not compile: the launch of k has no function of that name
"""hone
language = "tilelang"

[[launch]]
kernel = "k"
args   = ["x", "y"]
"""
import tilelang
import tilelang.language as T


def other():
    return None
