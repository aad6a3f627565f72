# task: c = a @ b | a=f32[32,64] b=f32[64,32] |
# expect: accepted
"""hone
language = "triton"
workspaces = { w = "zero f32[32,32]" }

[[launch]]
kernel = "k"
grid   = ["1", "1", "4"]
args   = ["a", "b", "w"]

[[launch]]
kernel = "copy"
grid   = ["1"]
args   = ["w", "c"]
"""
import triton
import triton.language as tl


@triton.jit
def copy(w, c):
    i = tl.arange(0, 1024)
    tl.store(c + i, tl.load(w + i))

@triton.jit
def k(a, b, w):
    m = tl.arange(0, 32)
    n = tl.arange(0, 32)
    k = tl.program_id(2) * 16 + tl.arange(0, 16)
    x = tl.load(a + m[:, None] * 64 + k[None, :])
    y = tl.load(b + k[:, None] * 32 + n[None, :])
    tl.atomic_add(w + m[:, None] * 32 + n[None, :], tl.dot(x, y, input_precision='ieee'), sem='relaxed')
