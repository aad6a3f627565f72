"""hone
language = "triton"
pattern = "pool"
action = "windows tap by tap"
note = "windows, max: write out_y"
tunables = { BLOCK = [128, 64, 256, 512], WARPS = [4, 8, 2, 1] }
[[launch]]
kernel = "pool"
grid   = ["ceil_div(120, BLOCK)"]
warps  = "WARPS"
stages = "3"
args   = ["x", "y", "=BLOCK"]
"""
# Windows that are reduced to their greatest element or their sum, and what is done to it. A program computes BLOCK elements of the result;
# each goes through the taps of its window in order, and neighbours find in the cache what they share.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def greater(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def pool(in_x, out_y, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]
    row_in = row < 120
    image = row // 20
    column = row % 20
    channel = 0
    c0 = (column // 4) * 2 - 1
    c1 = (column % 4) * 2 - 1
    total = tl.full((BLOCK, 1), float("-inf"), tl.float32)
    for tap in range(0, 9):
        t0 = (tap // 3)
        p0 = c0 + t0
        t1 = (tap % 3)
        p1 = c1 + t1
        x = tl.load(in_x + ((((image + channel) * 9 + t0) * 8 + t1) + ((c0) * 8 + c1)), mask=row_in & (p0 >= 0) & (p0 < 9) & (p1 >= 0) & (p1 < 8), other=float("-inf"))
        total = greater(x, total)
    at0 = row
    tl.store(out_y + at0, total, mask=row_in)

# task: y = max_pool2d(x, 3, stride=2, padding=1) | x=f32[2,3,9,8] | | nan
# expect: accepted
# library: pool
