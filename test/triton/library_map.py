"""hone
language = "triton"
pattern = "map"
action = "fuse into one loop"
note = "element by element: write out_y"
tunables = { BLOCK = [128, 64, 256, 512], ROWS = [8, 4, 16, 32], WARPS = [4, 8, 2, 1] }
[[launch]]
kernel = "elements"
grid   = ["ceil_div(7, ROWS)*ceil_div(70, BLOCK)"]
warps  = "WARPS"
stages = "3"
args   = ["x", "s", "b", "y", "=ROWS", "=BLOCK"]
"""
# Element by element, in one pass over memory: a program computes a tile of ROWS by BLOCK elements. What a row shares is loaded once a
# row. Where a tensor lies the other way round, a tile of both extents keeps its loads whole lines of memory too.
#   ROWS, BLOCK  the tile: the more elements a lane has, the more loads are under way and the more registers it takes
#   WARPS        warps that share the tile
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def elements(in_x, in_s, in_b, out_y, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    blocks = tl.cdiv(70, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    row_in = row < 7
    at = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]
    at_in = at < 70
    at0 = row
    at1 = at
    v0 = tl.load(in_x + at0 * 70 + at1, mask=row_in & at_in, other=0).to(tl.float32)
    v4 = v0
    v5 = tl.full((1,), 0.5, tl.float32) * v4
    v8 = v4 * tl.full((1,), 0.7071067690849304, tl.float32)
    v9 = libdevice.erf(v8)
    v10 = tl.full((1,), 1, tl.float32) + v9
    v11 = v5 * v10
    v12 = v11.to(tl.bfloat16).to(tl.float32)
    v13 = v12
    v1 = tl.load(in_s)
    v14 = v13 * v1
    v2 = tl.load(in_b + at1, mask=at_in, other=0)
    v16 = v14 + v2
    tl.store(out_y + at0 * 70 + at1, v16, mask=row_in & at_in)

# task: y = gelu(x) * s + b | x=bf16[7,70] s=f32[] b=f32[70] |
# expect: accepted
# library: map
