"""hone
language = "triton"
pattern = "convolution"
action = "tiles on matrix units"
note = "convolution: write out_y"
tunables = { BK = [32, 16, 64, 128], BM = [16, 32, 64], BN = [16, 32, 64], EXACT = [0, 1], GROUP = [8, 4, 16, 1], STAGES = [2, 3, 1], WARPS = [4, 8, 2] }
[[launch]]
kernel = "product"
grid   = ["4*ceil_div(4, BM)*ceil_div(16, BN)"]
warps  = "WARPS"
stages = "STAGES"
args   = ["w", "x", "y", "=BM", "=BN", "=BK", "=GROUP", "=EXACT"]
"""
# A matrix product, and what is done to its result element by element. A program computes BM by BN of it, a segment of BK of the depth at
# a time: Triton copies the factors into shared memory STAGES deep and multiplies on matrix units. Programs run in groups of GROUP tiles
# down the columns, so that those at work at one time share what they read.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def greater(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def product(in_w, in_x, out_y, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, EXACT: tl.constexpr):
    tiles_m = tl.cdiv(4, BM)
    tiles_n = tl.cdiv(16, BN)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    batch = (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    line = (first_m + tile % (GROUP * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    column = (tile % (GROUP * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)[None, :]
    line_in = line < 4
    column_in = column < 16
    c0 = (column // 4) * 2 - 1
    c1 = (column % 4) * 2 - 1
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, 18, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
        depth = across
        image = batch // 2
        part = batch % 2
        channel = part * 3 + depth // 6
        tap = depth % 6
        x = tl.load(in_w + ((part * 4 + line) * 18 + depth), mask=line_in & (depth < 18), other=0)
        depth = down
        image = batch // 2
        part = batch % 2
        channel = part * 3 + depth // 6
        tap = depth % 6
        t0 = (tap // 2) * 2
        p0 = c0 + t0
        t1 = (tap % 2) * 2
        p1 = c1 + t1
        y = tl.load(in_x + ((((image * 6 + channel) * 9 + t0) * 8 + t1) + ((c0) * 8 + c1)), mask=column_in & (p0 >= 0) & (p0 < 9) & (p1 >= 0) & (p1 < 8) & (depth < 18), other=0)
        total += tl.dot(x, y, input_precision="ieee" if EXACT else "bf16x6")
    row = batch * 4 + line
    row_in = line_in
    at = column
    at_in = column_in
    at1 = row % 8
    at0 = row // 8
    at2 = at
    v2 = greater(total, tl.full((1,), 0, tl.float32))
    tl.store(out_y + at0 * 128 + at1 * 16 + at2, v2, mask=row_in & at_in)

# task: y = relu(conv2d(x, w, stride=2, padding=1, dilation=2, groups=2)) | x=f32[2,6,9,8] w=f32[8,3,3,2] |
# expect: accepted
# library: convolution
