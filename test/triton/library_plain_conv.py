"""hone
language = "triton"
pattern = "plain"
note = "plain loops, a lane an element"
tunables = { BLOCK = [256, 128, 512] }
[[launch]]
kernel = "conv0"
grid   = ["ceil_div(128, BLOCK)"]
warps  = "4"
stages = "3"
args   = ["w", "x", "y", "=BLOCK"]
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
def conv0(in_w, in_x, out_y, BLOCK: tl.constexpr):
    lane = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < 128
    v0 = lane % 4
    v1 = lane // 4
    v2 = v1 % 4
    v3 = v1 // 4
    v4 = v3 % 4
    v5 = v3 // 4
    sum = tl.full((BLOCK,), 0, tl.float64)
    for c in range(0, 3):
        for t0 in range(0, 3):
            for t1 in range(0, 3):
                v6 = v2 * 2 + t0 - 1
                v7 = held(v6, 7)
                v8 = v0 * 2 + t1 - 1
                v9 = held(v8, 7)
                v10 = load_lanes(in_w, ((v4 * 3 + c) * 3 + t0) * 3 + t1, inside)
                v11 = v10.to(tl.float64)
                v12 = load_lanes(in_x, ((v5 * 3 + c) * 7 + v7) * 7 + v9, inside)
                v13 = v12.to(tl.float64)
                sum = sum + tl.where((v6 >= 0) & (v6 < 7) & (v8 >= 0) & (v8 < 7), v11 * v13, 0)
    store_lanes(out_y, ((v5 * 4 + v4) * 4 + v2) * 4 + v0, sum, inside)

# task: y = conv2d(x, w, stride=2, padding=1) | x=f32[2,3,7,7] w=f32[4,3,3,3] |
# expect: accepted
# library: plain
