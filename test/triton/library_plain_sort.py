"""hone
language = "triton"
pattern = "plain"
note = "plain loops, a lane an element"
tunables = { BLOCK = [256, 128, 512] }
[[launch]]
kernel = "sort0"
grid   = ["ceil_div(33, BLOCK)"]
warps  = "4"
stages = "3"
args   = ["x", "y", "=BLOCK"]
"""
# Plain: the computation as it is written down, one function for each reduction, contraction, scan, … and one for each group of
# element-wise operations that is stored; temporaries are workspaces. Sums run in float64. A program computes BLOCK elements, each lane its
# own by loops. Slow, but there is no task without it.
#
# i0, i1, … are positions in the result, r0, r1, … those that only the operand has, e0, e1, … extents.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def load_lanes(tensor, at, inside, nothing: tl.constexpr = 0):
    # `nothing`: 0.0 for floats of one byte, which Triton makes of no integer.
    return tl.load(tensor + (at + tl.zeros(inside.shape, tl.int64)), mask=inside, other=nothing)


@triton.jit
def store_lanes(tensor, at, value, inside):
    tl.store(tensor + (at + tl.zeros(inside.shape, tl.int64)), value.to(tensor.dtype.element_ty), mask=inside)


@triton.jit
def below(a, b):
    return tl.where(b != b, a == a, a < b)


@triton.jit
def sort0(in_x, out_y, BLOCK: tl.constexpr):
    lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < 33
    v0 = lane % 11
    v1 = lane // 11
    v2 = load_lanes(in_x, v1 * 11 + v0, inside)
    rank = tl.zeros((BLOCK,), tl.int64)
    for j in range(0, 11):
        v3 = load_lanes(in_x, v1 * 11 + j, inside)
        rank += (below(v3, v2) | (~below(v2, v3) & (j < v0))).to(tl.int64)
    store_lanes(out_y, v1 * 11 + rank, v2, inside)

# task: y = sort(x, axis=-1) | x=f32[3,11] |
# expect: accepted
# library: plain
