"""hone
language = "triton"
pattern  = "rows"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_choices@], BLOCK = [@block_choices@], HOLD = [16384, 8192, 32768, 4096], WARPS = [@warps_choices@] }

[[launch]]
kernel = "rows"
grid   = ["ceil_div(@rows@, ROWS)"]
warps  = "WARPS"
args   = [@args@, "=@whole@", "=ROWS", "=BLOCK", "=HOLD"]
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
@functions@

@triton.jit
def rows(@parameters@, WHOLE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, HOLD: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < @rows_name@
@rows_prologue@    length = @length_name@
    if ROWS * WHOLE <= HOLD:
        at = tl.arange(0, WHOLE)[None, :]
        at_in = at < length
@held@    else:
@looped@