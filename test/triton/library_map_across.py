"""hone
language = "triton"
pattern = "map"
action = "fuse into one loop"
note = "element by element: write out_y"
tunables = { BLOCK = [32, 16, 64, 128], ROWS = [32, 16, 64], WARPS = [4, 8, 2, 1] }
[[launch]]
kernel = "elements"
grid   = ["ceil_div(20, BLOCK)*ceil_div(33, ROWS)"]
warps  = "WARPS"
stages = "3"
args   = ["x", "z", "y", "=ROWS", "=BLOCK"]
"""
# Element by element, in one pass over memory: a program computes a tile of ROWS by BLOCK elements. What a row shares is loaded once a
# row. Where a tensor lies the other way round, a tile of both extents keeps its loads whole lines of memory too.
#   ROWS, BLOCK  the tile: the more elements a lane has, the more loads are under way and the more registers it takes
#   WARPS        warps that share the tile
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def elements(in_x, in_z, out_y, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    blocks = tl.cdiv(20, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < 33
    at = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]
    at_in = at < 20
    at0 = row
    at1 = at
    v0 = tl.load(in_x + at0 * 20 + at1, mask=row_in & at_in, other=0)
    v3 = libdevice.exp(v0)
    v1 = tl.load(in_z + at0 + at1 * 33, mask=row_in & at_in, other=0)
    v4 = v3 + v1
    tl.store(out_y + at0 + at1 * 33, v4, mask=row_in & at_in)

# task: y = exp(transpose(x)) + z | x=f32[33,20] z=f32[20,33] |
# expect: accepted
# library: map
