# task: y = sum(x, axis=0, keepdims=true) | x=f32[1000] |
# expect: accepted
"""hone
language = "triton"
workspaces = { w = "f32[8]" }

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "w", "i32:1000", "=128"]

[[launch]]
kernel = "total"
grid   = ["1"]
args   = ["w", "y"]
"""
import triton
import triton.language as tl


@triton.jit
def total(w, y):
    tl.store(y, tl.sum(tl.load(w + tl.arange(0, 8)), 0))

@triton.jit
def k(x, w, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(w + pid, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
