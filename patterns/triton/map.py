"""hone
language = "triton"
pattern  = "map"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_choices@], BLOCK = [@block_choices@], WARPS = [4, 8, 2, 1] }

[[launch]]
kernel = "elements"
grid   = ["ceil_div(@rows@, ROWS) * ceil_div(@length@, BLOCK)"]
warps  = "WARPS"
args   = [@args@, "=ROWS", "=BLOCK"]
"""
# Element by element, in one pass over memory: a program computes a tile of ROWS by BLOCK elements. What a row shares is loaded once a
# row. Where a tensor lies the other way round, a tile of both extents keeps its loads whole lines of memory too.
#   ROWS, BLOCK  the tile: the more elements a lane has, the more loads are under way and the more registers it takes
#   WARPS        warps that share the tile
import triton
import triton.language as tl
from triton.language.extra import libdevice
@functions@

@triton.jit
def elements(@parameters@, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    blocks = tl.cdiv(@length_name@, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < @rows_name@
    at = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]
    at_in = at < @length_name@
@body@