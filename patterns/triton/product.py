"""hone
language = "triton"
pattern  = "@pattern@"
note     = "@note@"
@requires@tunables = { BM = [@bm_choices@], BN = [@bn_choices@], BK = [@bk_choices@], GROUP = [8, 4, 16, 1], WARPS = [@warps_choices@], STAGES = [@stages_choices@]@exact_choices@ }

[[launch]]
kernel = "product"
grid   = ["@batches@ceil_div(@row_count@, BM) * ceil_div(@column_count@, BN)"]
warps  = "WARPS"
stages = "STAGES"
args   = [@args@, "=BM", "=BN", "=BK", "=GROUP"@exact_argument@]
"""
# A matrix product, and what is done to its result element by element. A program computes BM by BN of it, a segment of BK of the depth at
# a time: Triton copies the factors into shared memory STAGES deep and multiplies on matrix units. Programs run in groups of GROUP tiles
# down the columns, so that those at work at one time share what they read.
import triton
import triton.language as tl
from triton.language.extra import libdevice
@functions@

@triton.jit
def product(@parameters@, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr@exact_parameter@):
    tiles_m = tl.cdiv(@rows_name@, BM)
    tiles_n = tl.cdiv(@columns_name@, BN)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    batch = (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    line = (first_m + tile % (GROUP * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    column = (tile % (GROUP * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)[None, :]
    line_in = line < @rows_name@
    column_in = column < @columns_name@
@places@    total = tl.zeros((BM, BN), @accumulator@)
    for start in range(0, @depth_name@, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
@loads@        @multiply@
@body@