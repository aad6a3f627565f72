"""hone
language = "triton"
pattern = "rows"
action = "keep rows in registers"
note = "rows: argmax"
tunables = { BLOCK = [512, 256, 1024, 2048], HOLD = [16384, 8192, 32768, 4096], ROWS = [8, 4, 16, 32], WARPS = [2, 4, 1] }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(5, ROWS)"]
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
def both(a, b):
    return a & b


# The better of two values, each with its place: the first where both are as good; a NaN is better than a number.
@triton.jit
def first_greater(a, i, b, j):
    other = (b > a) | ((b != b) & (a == a)) | (((a == b) | ((a != a) & (b != b))) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def rows(in_x, out_y, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, HOLD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < 5
    at0 = row
    length = 41
    if ROWS * WHOLE <= HOLD:
        at = tl.arange(0, WHOLE)[None, :]
        at_in = at < length
        at1 = at
        v0 = tl.load(in_x + at0 * 41 + at1, mask=row_in & at_in, other=0)
        _, v1 = tl.reduce((tl.where(row_in & at_in, v0, float("-inf")), at1.to(tl.int64) + tl.zeros((ROWS, 1), tl.int64)), 1, first_greater, keep_dims=True)
        tl.store(out_y + at0, v1, mask=row_in)
    else:
        a1 = tl.full((ROWS, BLOCK), float("-inf"), tl.float32)
        i1 = tl.zeros((ROWS, BLOCK), tl.int64)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 41 + at1, mask=row_in & at_in, other=0)
            a1, i1 = first_greater(a1, i1, tl.where(row_in & at_in, v0, float("-inf")), at1.to(tl.int64) + tl.zeros((ROWS, 1), tl.int64))
        _, v1 = tl.reduce((a1, i1), 1, first_greater, keep_dims=True)
        tl.store(out_y + at0, v1, mask=row_in)

# task: y = argmax(x, axis=-1) | x=f32[5,41] |
# expect: accepted
# library: rows
