# task: y = sum(x, axis=0, keepdims=true) | x=f32[1000] |
# expect: launch fails: programs run in any order
"""hone
language = "triton"
workspaces = { lock = "zero i32[1]", w = "zero f32[1]" }

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "lock", "w", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, lock, w, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0)
    while tl.atomic_cas(lock, 0, 1, sem='relaxed') == 1:
        pass
    tl.store(w, tl.load(w) + s)
    tl.store(y, tl.load(w))
    tl.atomic_xchg(lock, 0, sem='relaxed')
