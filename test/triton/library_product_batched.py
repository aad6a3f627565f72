"""hone
language = "triton"
pattern = "product"
action = "tiles on matrix units"
note = "product: write out_y"
tunables = { BK = [32, 16, 64, 128], BM = [32, 16, 64, 128], BN = [32, 16, 64, 128], EXACT = [0, 1], GROUP = [8, 4, 16, 1], STAGES = [2, 3, 1], WARPS = [4, 8, 2] }
[[launch]]
kernel = "product"
grid   = ["3*ceil_div(17, BN)*ceil_div(18, BM)"]
warps  = "WARPS"
stages = "STAGES"
args   = ["b", "a", "y", "=BM", "=BN", "=BK", "=GROUP", "=EXACT"]
"""
# A matrix product, and what is done to its result element by element. A program computes BM by BN of it, a segment of BK of the depth at
# a time: Triton copies the factors into shared memory STAGES deep and multiplies on matrix units. Programs run in groups of GROUP tiles
# down the columns, so that those at work at one time share what they read.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def product(in_b, in_a, out_y, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, EXACT: tl.constexpr):
    tiles_m = tl.cdiv(18, BM)
    tiles_n = tl.cdiv(17, BN)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    batch = (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    line = (first_m + tile % (GROUP * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    column = (tile % (GROUP * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)[None, :]
    line_in = line < 18
    column_in = column < 17
    i_a = batch
    i_b = line
    i_d = column
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, 20, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
        i_c = across
        x = tl.load(in_a + i_a * 360 + i_b * 20 + i_c, mask=line_in & (across < 20), other=0)
        i_c = down
        y = tl.load(in_b + i_a * 340 + i_d + i_c * 17, mask=column_in & (down < 20), other=0)
        total += tl.dot(x, y, input_precision="ieee" if EXACT else "bf16x6")
    row = batch * 18 + line
    row_in = line_in
    at = column
    at_in = column_in
    at1 = row % 18
    at0 = row // 18
    at2 = at
    tl.store(out_y + at0 * 306 + at1 * 17 + at2, total, mask=row_in & at_in)

# task: y = matmul(a, b) | a=f32[3,18,20] b=f32[3,20,17] |
# expect: accepted
# library: product
