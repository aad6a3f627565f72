# task: c = a @ b | a=f32[70,50] b=f32[50,90] |
# expect: less accurate or wrong
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["3", "3"]
args   = ["a", "b", "c"]
"""
import triton
import triton.language as tl


@triton.jit
def k(a, b, c):
    m = tl.program_id(0) * 32 + tl.arange(0, 32)
    n = tl.program_id(1) * 32 + tl.arange(0, 32)
    k = tl.arange(0, 16)
    acc = tl.zeros((32, 32), tl.float32)
    for at in range(0, 50, 16):
        x = tl.load(a + m[:, None] * 50 + (at + k)[None, :], mask=(m < 70)[:, None] & (at + k < 50)[None, :], other=0.0)
        y = tl.load(b + (at + k)[:, None] * 90 + n[None, :], mask=(at + k < 50)[:, None] & (n < 90)[None, :], other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * 90 + n[None, :], acc, mask=(m < 70)[:, None] & (n < 90)[None, :])
