"""hone
language = "triton"
pattern  = "pool"
note     = "@note@"
@requires@tunables = { BLOCK = [@block_choices@], WARPS = [4, 8, 2, 1] }

[[launch]]
kernel = "pool"
grid   = ["ceil_div(@count@, BLOCK)"]
warps  = "WARPS"
args   = [@args@, "=BLOCK"]
"""
# Windows that are reduced to their greatest element or their sum, and what is done to it. A program computes BLOCK elements of the result;
# each goes through the taps of its window in order, and neighbours find in the cache what they share.
import triton
import triton.language as tl
from triton.language.extra import libdevice
@functions@

@triton.jit
def pool(@parameters@, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]
    row_in = row < @count_name@
    image = row // @space@
    column = row % @space@
    channel = 0
@columns@    total = tl.full((BLOCK, 1), @nothing@, @type@)
    for tap in range(0, @taps@):
@places@@take@@body@