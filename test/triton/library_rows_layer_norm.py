"""hone
language = "triton"
pattern = "rows"
action = "keep rows in registers"
note = "rows: sum; sum; write out_y"
tunables = { BLOCK = [512, 256, 1024, 2048], HOLD = [16384, 8192, 32768, 4096], ROWS = [8, 4, 16, 32], WARPS = [2, 4, 1] }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(6, ROWS)"]
warps  = "WARPS"
stages = "3"
args   = ["x", "w", "b", "y", "=128", "=ROWS", "=BLOCK", "=HOLD"]
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


@triton.jit
def root(x):
    if x.dtype == tl.float32:
        return tl.sqrt_rn(x)
    else:
        return tl.sqrt(x)


@triton.jit
def reciprocal(x):
    return divide(tl.full((1,), 1, x.dtype), x)


@triton.jit
def inverse_root(x):
    return reciprocal(root(x))


# a - b as if it were rounded by itself: 0 where both are the same number, though the product that a is may be fused into the difference.
@triton.jit
def difference(a, b):
    return tl.where((a == b) & (tl.abs(a) < float("inf")), 0.0, a - b)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def rows(in_x, in_w, in_b, out_y, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, HOLD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < 6
    at0 = row
    length = 96
    if ROWS * WHOLE <= HOLD:
        at = tl.arange(0, WHOLE)[None, :]
        at_in = at < length
        at1 = at
        v0 = tl.load(in_x + at0 * 96 + at1, mask=row_in & at_in, other=0).to(tl.float32)
        v3 = v0
        v4 = tl.reduce(tl.where(row_in & at_in, v3, 0), 1, add, keep_dims=True)
        v6 = divide(v4, tl.full((1,), 96, tl.float32))
        v7 = difference(v3, v6)
        v8 = v7 * v7
        v9 = tl.reduce(tl.where(row_in & at_in, v8, 0), 1, add, keep_dims=True)
        v10 = divide(v9, tl.full((1,), 96, tl.float32))
        v12 = v10 + tl.full((1,), 9.999999747378752e-06, tl.float32)
        v13 = inverse_root(v12)
        v14 = v7 * v13
        v1 = tl.load(in_w + at1, mask=at_in, other=0)
        v16 = v14 * v1
        v2 = tl.load(in_b + at1, mask=at_in, other=0)
        v18 = v16 + v2
        v19 = v18.to(tl.bfloat16).to(tl.float32)
        tl.store(out_y + at0 * 96 + at1, v19.to(tl.bfloat16), mask=row_in & at_in)
    else:
        a4 = tl.full((ROWS, BLOCK), 0, tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 96 + at1, mask=row_in & at_in, other=0).to(tl.float32)
            v3 = v0
            a4 = add(a4, tl.where(row_in & at_in, v3, 0))
        v4 = tl.reduce(a4, 1, add, keep_dims=True)
        v6 = divide(v4, tl.full((1,), 96, tl.float32))
        a9 = tl.full((ROWS, BLOCK), 0, tl.float32)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 96 + at1, mask=row_in & at_in, other=0).to(tl.float32)
            v3 = v0
            v7 = difference(v3, v6)
            v8 = v7 * v7
            a9 = add(a9, tl.where(row_in & at_in, v8, 0))
        v9 = tl.reduce(a9, 1, add, keep_dims=True)
        v10 = divide(v9, tl.full((1,), 96, tl.float32))
        v12 = v10 + tl.full((1,), 9.999999747378752e-06, tl.float32)
        v13 = inverse_root(v12)
        for start in range(0, length, BLOCK):
            at = start + tl.arange(0, BLOCK)[None, :]
            at_in = at < length
            at1 = at
            v0 = tl.load(in_x + at0 * 96 + at1, mask=row_in & at_in, other=0).to(tl.float32)
            v3 = v0
            v7 = difference(v3, v6)
            v14 = v7 * v13
            v1 = tl.load(in_w + at1, mask=at_in, other=0)
            v16 = v14 * v1
            v2 = tl.load(in_b + at1, mask=at_in, other=0)
            v18 = v16 + v2
            v19 = v18.to(tl.bfloat16).to(tl.float32)
            tl.store(out_y + at0 * 96 + at1, v19.to(tl.bfloat16), mask=row_in & at_in)

# task: y = layer_norm(x, w, b, eps=1e-5) | x=bf16[6,96] w=f32[96] b=f32[96] |
# expect: accepted
# library: rows
