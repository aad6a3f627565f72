"""hone
language = "triton"
pattern  = "attention"
note     = "@note@"
@requires@tunables = { BM = [@bm_choices@], BN = [@bn_choices@], PARTS = [@parts_choices@], WARPS = [4, 8], STAGES = [2, 3, 1] }

[[launch]]
kernel = "attention"
grid   = ["@batches@ceil_div(@row_count@, BM)"]
warps  = "WARPS"
stages = "STAGES"
args   = [@args@, "=@head@", "=@value_head@", "=BM", "=BN", "=PARTS"]
"""
# Attention: softmax over the keys of scores, times values, in one pass over the keys. A program has BM queries and keeps of each its
# greatest score, the sum of its weights and their sum of values so far; all three are scaled anew when a greater score comes.
#   HEAD, VALUE_HEAD  powers of two that cover the depth of the scores and the columns of values
#   BM, BN  queries of a program, keys at a time
#   PARTS   numbers of 16 bits that a weight is written as, where values have 16 bits
import triton
import triton.language as tl
from triton.language.extra import libdevice
@functions@

@triton.jit
def attention(@parameters@, HEAD: tl.constexpr, VALUE_HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr):
    tiles = tl.cdiv(@rows_name@, BM)
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    # The last queries first: where keys are left out, those have most of them.
    first = (tiles - 1 - tl.program_id(0) % tiles).to(tl.int64) * BM
    line = first + tl.arange(0, BM)[:, None]
    line_in = line < @rows_name@
    row = batch * @rows_name@ + line
    row_in = line_in
    across = tl.arange(0, HEAD)[None, :]
    across_in = across < @depth_name@
    down = tl.arange(0, HEAD)[:, None]
    down_in = down < @depth_name@
    column = tl.arange(0, VALUE_HEAD)[None, :]
    column_in = column < @width_name@
@places@    most = tl.full((BM, 1), float("-inf"), tl.float32)
    weights = tl.zeros((BM, 1), tl.float32)
    total = tl.zeros((BM, VALUE_HEAD), tl.float32)
    last = @last@
    for start in range(0, last, BN):
        at = start + tl.arange(0, BN)[None, :]
        at_in = at < @keys_name@
        key = start + tl.arange(0, BN)[:, None]
        key_in = key < @keys_name@
@keys@        scores = tl.dot(q, k@precision@)
@scores@        scores = tl.where(at_in, @score@, float("-inf"))
        now = greater(tl.reduce(scores, 1, greater, keep_dims=True), most)
        shift = tl.where(now == float("-inf"), 0.0, now)
        p = libdevice.exp2((scores - shift) * 1.4426950408889634)
        fade = libdevice.exp2((most - shift) * 1.4426950408889634)
        most = now
        weights = weights * fade + tl.sum(p, 1, keep_dims=True)
        total = total * fade
@values@
    total = tl.div_rn(total, weights)
    at = column
    at_in = column_in
@body@