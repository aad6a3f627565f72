"""hone
language = "triton"
pattern = "rows"
action = "keep rows in registers"
note = "rows: write out_y"
tunables = { BLOCK = [1024, 512, 2048, 4096], HOLD = [16384, 8192, 32768, 4096], ROWS = [4, 2, 8, 16], WARPS = [2, 4, 1] }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(4, ROWS)"]
warps  = "WARPS"
stages = "3"
args   = ["x", "y", "=128", "=ROWS", "=BLOCK", "=HOLD"]
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
    row_in = row < 4
    at0 = row
    length = 77
    if ROWS * WHOLE <= HOLD:
        at = tl.arange(0, WHOLE)[None, :]
        at_in = at < length
        at1 = at
        v0 = tl.load(in_x + at0 * 77 + at1, mask=row_in & at_in, other=0)
        x1 = tl.where(row_in & at_in, v0, 0)
        v1 = tl.associative_scan(x1, 1, add)
        tl.store(out_y + at0 * 77 + at1, v1, mask=row_in & at_in)
    else:
        c1 = tl.full((ROWS, 1), 0, tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 77 + at1, mask=row_in & at_in, other=0)
            x1 = tl.where(row_in & at_in, v0, 0)
            v1 = add(c1, tl.associative_scan(x1, 1, add))
            tl.store(out_y + at0 * 77 + at1, v1, mask=row_in & at_in)
            c1 = add(c1, tl.reduce(x1, 1, add, keep_dims=True))

# task: y = cumsum(x, axis=-1) | x=f32[4,77] |
# expect: accepted
# library: rows
