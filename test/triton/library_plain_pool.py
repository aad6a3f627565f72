"""hone
language = "triton"
pattern = "plain"
note = "plain loops, a lane an element"
tunables = { BLOCK = [256, 128, 512] }
[[launch]]
kernel = "pool_max0"
grid   = ["ceil_div(150, BLOCK)"]
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
def held(at, extent):
    return tl.maximum(tl.minimum(at, extent - 1), 0)


@triton.jit
def greater(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def pool_max0(in_x, out_y, BLOCK: tl.constexpr):
    lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < 150
    v0 = lane % 5
    v1 = lane // 5
    v2 = v1 % 5
    v3 = v1 // 5
    v4 = v3 % 3
    v5 = v3 // 3
    sum = tl.full((BLOCK,), float("-inf"), tl.float32)
    for t0 in range(0, 3):
        for t1 in range(0, 3):
            v6 = v2 * 2 + t0 - 1
            v7 = held(v6, 9)
            v8 = v0 * 2 + t1 - 1
            v9 = held(v8, 9)
            v10 = load_lanes(in_x, ((v5 * 3 + v4) * 9 + v7) * 9 + v9, inside)
            sum = greater(tl.where((v6 >= 0) & (v6 < 9) & (v8 >= 0) & (v8 < 9), v10, float("-inf")), sum)
    store_lanes(out_y, ((v5 * 3 + v4) * 5 + v2) * 5 + v0, sum, inside)

# task: y = max_pool2d(x, 3, stride=2, padding=1) | x=f32[2,3,9,9] |
# expect: accepted
# library: plain
