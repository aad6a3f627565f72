# task: y = sum(x, axis=0, keepdims=true) | x=f32[1000] |
# expect: accepted
"""hone
language = "triton"
workspaces = { w = "zero f32[1]" }

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "w", "i32:1000", "=128"]

[[launch]]
kernel = "copy"
grid   = ["1"]
args   = ["w", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def copy(w, y):
    tl.store(y, tl.load(w))

@triton.jit
def k(x, w, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(w, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
