"""hone
language = "triton"
pattern = "convolution"
action = "tiles on matrix units"
note = "convolution: write out_y"
tunables = { BK = [32, 16, 64, 128], BM = [16, 32, 64], BN = [128, 64, 256], GROUP = [8, 4, 16, 1], STAGES = [3, 4, 2], WARPS = [4, 8, 2] }
[[launch]]
kernel = "product"
grid   = ["2*ceil_div(4, BM)*ceil_div(99, BN)"]
warps  = "WARPS"
stages = "STAGES"
args   = ["w", "x", "y", "=BM", "=BN", "=BK", "=GROUP"]
"""
# A matrix product, and what is done to its result element by element. A program computes BM by BN of it, a segment of BK of the depth at
# a time: Triton copies the factors into shared memory STAGES deep and multiplies on matrix units. Programs run in groups of GROUP tiles
# down the columns, so that those at work at one time share what they read.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def product(in_w, in_x, out_y, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = tl.cdiv(4, BM)
    tiles_n = tl.cdiv(99, BN)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    batch = (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    line = (first_m + tile % (GROUP * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    column = (tile % (GROUP * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)[None, :]
    line_in = line < 4
    column_in = column < 99
    c0 = (column // 11) + 1
    c1 = (column % 11) + 1
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, 27, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
        depth = across
        image = batch
        part = 0
        channel = depth // 9
        tap = depth % 9
        x = tl.load(in_w + ((channel * 4 + line) * 9 + tap), mask=line_in & (depth < 27), other=0)
        depth = down
        image = batch
        part = 0
        channel = depth // 9
        tap = depth % 9
        t0 = (tap // 3)
        q0 = c0 - t0
        p0 = q0 // 2
        t1 = (tap % 3)
        q1 = c1 - t1
        p1 = q1 // 2
        y = tl.load(in_x + (((image * 3 + channel) * 5 + p0) * 6 + p1), mask=column_in & (p0 >= 0) & (p0 < 5) & (q0 % 2 == 0) & (p1 >= 0) & (p1 < 6) & (q1 % 2 == 0) & (depth < 27), other=0)
        total = tl.dot(x, y, total)
    row = batch * 4 + line
    row_in = line_in
    at = column
    at_in = column_in
    at1 = row % 4
    at0 = row // 4
    at2 = at
    v1 = total.to(tl.bfloat16).to(tl.float32)
    tl.store(out_y + at0 * 396 + at1 * 99 + at2, v1.to(tl.bfloat16), mask=row_in & at_in)

# task: y = conv_transpose2d(x, w, stride=2, padding=1) | x=bf16[2,3,5,6] w=bf16[3,4,3,3] |
# expect: accepted
# library: convolution
