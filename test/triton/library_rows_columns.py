"""hone
language = "triton"
pattern = "rows"
action = "keep rows in registers"
note = "rows across memory: sum"
tunables = { BLOCK = [32, 16, 64, 128], HOLD = [16384, 8192, 32768, 4096], ROWS = [64, 32, 128], WARPS = [4, 8, 2] }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(37, ROWS)"]
warps  = "WARPS"
stages = "3"
args   = ["x", "y", "=64", "=ROWS", "=BLOCK", "=HOLD"]
"""
# Rows and what is reduced along them. A program takes ROWS of them; where these are short enough, they are read once and stay in
# registers from one pass to the next. Longer ones are gone through in segments of BLOCK, once a pass, and results are combined at the
# end of each. Whether rows lie along memory or across it is the same text: loads are arranged by where the elements lie.
#   WHOLE  the power of two that covers a row
#   ROWS   rows a program
#   BLOCK  elements of a row at a time, where rows are not held
#   HOLD   elements of a tile that stay in registers
#   WARPS  warps that share a tile
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def rows(in_x, out_y, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, HOLD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < 37
    at1 = row
    length = 50
    if ROWS * WHOLE <= HOLD:
        at = tl.arange(0, WHOLE)[None, :]
        at_in = at < length
        at0 = at
        v0 = tl.load(in_x + at1 + at0 * 37, mask=row_in & at_in, other=0)
        v1 = v0 * v0
        v2 = tl.reduce(tl.where(row_in & at_in, v1, 0), 1, add, keep_dims=True)
        tl.store(out_y + at1, v2, mask=row_in)
    else:
        a2 = tl.full((ROWS, BLOCK), 0, tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at0 = at
            v0 = tl.load(in_x + at1 + at0 * 37, mask=row_in & at_in, other=0)
            v1 = v0 * v0
            a2 = add(a2, tl.where(row_in & at_in, v1, 0))
        v2 = tl.reduce(a2, 1, add, keep_dims=True)
        tl.store(out_y + at1, v2, mask=row_in)

# task: y = sum(x * x, axis=0) | x=f32[50,37] |
# expect: accepted
# library: rows
