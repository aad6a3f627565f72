# task: s = sum(x, axis=0) | x=f32[60,64] |
# expect: accepted
"""hone
language = "triton"
workspaces = { acc = "zero f32[1, 64]" }
[[launch]]
kernel = "colsum"
grid = ["ceil_div(60, 16)"]
args = ["x", "acc", "i32:60", "i32:64", "=16", "=next_power_of_2(64)"]
[[launch]]
kernel = "copy"
grid = ["1"]
args = ["acc", "s", "i32:64", "=next_power_of_2(64)"]
"""
import triton
import triton.language as tl


@triton.jit
def colsum(x_ptr, acc_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    xd = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    ad = tl.make_tensor_descriptor(acc_ptr, [1, N], [N, 1], [1, BN])
    x = xd.load([tl.program_id(0) * BM, 0])
    ad.atomic_add([0, 0], tl.sum(x, 0)[None, :])


@triton.jit
def copy(a, b, N, BN: tl.constexpr):
    o = tl.arange(0, BN)
    tl.store(b + o, tl.load(a + o, mask=o < N), mask=o < N)
