"""hone
language = "triton"
pattern = "rows"
action = "keep rows in registers"
note = "rows: max; sum; write out_y"
tunables = { BLOCK = [256, 128, 512, 1024], HOLD = [16384, 8192, 32768, 4096], ROWS = [16, 8, 32, 64], WARPS = [4, 8, 2] }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(9, ROWS)"]
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
def divide(a, b):
    if a.dtype == tl.float32:
        return tl.div_rn(a, b)
    else:
        return a / b


# a - b as if it were rounded by itself: 0 where both are the same number, though the product that a is may be fused into the difference.
@triton.jit
def difference(a, b):
    return tl.where((a == b) & (tl.abs(a) < float("inf")), 0.0, a - b)


@triton.jit
def greater(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def rows(in_x, out_y, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, HOLD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < 9
    at0 = row
    length = 70
    if ROWS * WHOLE <= HOLD:
        at = tl.arange(0, WHOLE)[None, :]
        at_in = at < length
        at1 = at
        v0 = tl.load(in_x + at0 * 70 + at1, mask=row_in & at_in, other=0)
        v1 = tl.reduce(tl.where(row_in & at_in, v0, float("-inf")), 1, greater, keep_dims=True)
        v2 = difference(v0, v1)
        v3 = libdevice.exp(v2)
        v4 = tl.reduce(tl.where(row_in & at_in, v3, 0), 1, add, keep_dims=True)
        v5 = divide(v3, v4)
        tl.store(out_y + at0 * 70 + at1, v5, mask=row_in & at_in)
    else:
        a1 = tl.full((ROWS, BLOCK), float("-inf"), tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 70 + at1, mask=row_in & at_in, other=0)
            a1 = greater(a1, tl.where(row_in & at_in, v0, float("-inf")))
        v1 = tl.reduce(a1, 1, greater, keep_dims=True)
        a4 = tl.full((ROWS, BLOCK), 0, tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 70 + at1, mask=row_in & at_in, other=0)
            v2 = difference(v0, v1)
            v3 = libdevice.exp(v2)
            a4 = add(a4, tl.where(row_in & at_in, v3, 0))
        v4 = tl.reduce(a4, 1, add, keep_dims=True)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 70 + at1, mask=row_in & at_in, other=0)
            v2 = difference(v0, v1)
            v3 = libdevice.exp(v2)
            v5 = divide(v3, v4)
            tl.store(out_y + at0 * 70 + at1, v5, mask=row_in & at_in)

# task: y = softmax(x, axis=-1) | x=f32[9,70] |
# expect: accepted
# library: rows
