"""hone
language = "triton"
pattern  = "plain"
note     = "plain loops, a lane an element"
tunables = { BLOCK = [256, 128, 512] }
@workspaces@@launches@"""
# Plain: the computation as it is written down, one function for each reduction, contraction, scan, … and one for each group of
# element-wise operations that is stored; temporaries are workspaces. Sums run in float64. A program computes BLOCK elements, each lane its
# own by loops. Slow, but there is no task without it.
#
# i0, i1, … are positions in the result, r0, r1, … those that only the operand has, e0, e1, … extents.
import triton
import triton.language as tl
from triton.language.extra import libdevice
@functions@