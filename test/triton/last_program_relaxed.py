# task: y = sum(x, axis=0, keepdims=true) | x=f32[1000] |
# expect: launch fails: programs run in any order
"""hone
language = "triton"
workspaces = { w = "f32[8]", count = "zero i32[1]" }

[[launch]]
kernel = "k"
grid   = ["8"]
args   = ["x", "w", "count", "y", "i32:1000", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def k(x, w, count, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    tl.store(w + pid, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
    tl.debug_barrier()
    before = tl.atomic_add(count, 1, sem='relaxed')
    if before == tl.num_programs(0) - 1:
        j = tl.arange(0, 8)
        tl.store(y, tl.sum(tl.load(w + j), 0))
