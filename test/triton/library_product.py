"""hone
language = "triton"
pattern = "product"
action = "tiles on matrix units"
note = "product: write out_y"
tunables = { BK = [64, 32, 128], BM = [64, 32, 128, 256], BN = [64, 32, 128, 256], GROUP = [8, 4, 16, 1], STAGES = [3, 4, 2], WARPS = [4, 8, 2] }
[[launch]]
kernel = "product"
grid   = ["ceil_div(33, BN)*ceil_div(40, BM)"]
warps  = "WARPS"
stages = "STAGES"
args   = ["b", "a", "c", "y", "=BM", "=BN", "=BK", "=GROUP"]
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
def product(in_b, in_a, in_c, out_y, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = tl.cdiv(40, BM)
    tiles_n = tl.cdiv(33, BN)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    batch = (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    line = (first_m + tile % (GROUP * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    column = (tile % (GROUP * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)[None, :]
    line_in = line < 40
    column_in = column < 33
    i_a = line
    i_c = column
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, 50, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
        i_b = across
        x = tl.load(in_a + i_a * 50 + i_b, mask=line_in & (across < 50), other=0)
        i_b = down
        y = tl.load(in_b + i_c + i_b * 33, mask=column_in & (down < 50), other=0)
        total = tl.dot(x, y, total)
    row = batch * 40 + line
    row_in = line_in
    at = column
    at_in = column_in
    at0 = row
    at1 = at
    v2 = total.to(tl.bfloat16).to(tl.float32)
    v1 = tl.load(in_c + at1, mask=at_in, other=0).to(tl.float32)
    v4 = v2 + v1
    v6 = greater(v4, tl.full((1,), 0, tl.float32))
    tl.store(out_y + at0 * 33 + at1, v6.to(tl.bfloat16), mask=row_in & at_in)

# task: y = relu(matmul(a, b) + c) | a=bf16[40,50] b=bf16[50,33] c=bf16[33] |
# expect: accepted
# library: product
