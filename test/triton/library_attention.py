"""hone
language = "triton"
pattern = "attention"
action = "one pass over the keys"
note = "attention in one pass over the keys: write out_y"
tunables = { BM = [64, 32, 128], BN = [64, 32, 128], PARTS = [1, 2], STAGES = [2, 3, 1], WARPS = [4, 8] }
[[launch]]
kernel = "attention"
grid   = ["2*ceil_div(40, BM)"]
warps  = "WARPS"
stages = "STAGES"
args   = ["q", "k", "v", "y", "=16", "=16", "=BM", "=BN", "=PARTS"]
"""
# Attention: softmax over the keys of scores, times values, in one pass over the keys. A program has BM queries and keeps of each its
# greatest score, the sum of its weights and their sum of values so far; all three are scaled anew when a greater score comes.
#   HEAD, VALUE_HEAD  powers of two that cover the depth of the scores and the columns of values
#   BM, BN  queries of a program, keys at a time
#   PARTS   numbers of 16 bits that a weight is written as, where values have 16 bits
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def greater(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def attention(in_q, in_k, in_v, out_y, HEAD: tl.constexpr, VALUE_HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr):
    tiles = tl.cdiv(40, BM)
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    # The last queries first: where keys are left out, those have most of them.
    first = (tiles - 1 - tl.program_id(0) % tiles).to(tl.int64) * BM
    line = first + tl.arange(0, BM)[:, None]
    line_in = line < 40
    row = batch * 40 + line
    row_in = line_in
    across = tl.arange(0, HEAD)[None, :]
    across_in = across < 16
    down = tl.arange(0, HEAD)[:, None]
    down_in = down < 16
    column = tl.arange(0, VALUE_HEAD)[None, :]
    column_in = column < 16
    i_a = batch
    i_b = line
    i_c = across
    q = tl.load(in_q + i_a * 640 + i_b * 16 + i_c, mask=line_in & across_in, other=0)
    k_a = batch
    k_c = down
    j_a = batch
    j_d = column
    at1 = row % 40
    at0 = row // 40
    most = tl.full((BM, 1), float("-inf"), tl.float32)
    weights = tl.zeros((BM, 1), tl.float32)
    total = tl.zeros((BM, VALUE_HEAD), tl.float32)
    last = tl.where(first // 40 != (tl.minimum(first + BM, 40) - 1) // 40, 40, tl.minimum(tl.maximum((tl.minimum(first + BM, 40) - 1) % 40 + 1, 1), 40))
    for start in range(0, last, BN):
        at = start + tl.arange(0, BN)[None, :]
        at_in = at < 40
        key = start + tl.arange(0, BN)[:, None]
        key_in = key < 40
        k_d = at
        k = tl.load(in_k + k_a * 640 + k_d * 16 + k_c, mask=at_in & down_in, other=0)
        scores = tl.dot(q, k)
        at2 = at
        v3 = at1.to(tl.int64) >= at2.to(tl.int64)
        v6 = scores * tl.full((1,), 0.25, tl.float32)
        v8 = tl.where(v3, v6, tl.full((1,), float("-inf"), tl.float32))
        scores = tl.where(at_in, v8, float("-inf"))
        now = greater(tl.reduce(scores, 1, greater, keep_dims=True), most)
        shift = tl.where(now == float("-inf"), 0.0, now)
        p = libdevice.exp2((scores - shift) * 1.4426950408889634)
        fade = libdevice.exp2((most - shift) * 1.4426950408889634)
        most = now
        weights = weights * fade + tl.sum(p, 1, keep_dims=True)
        total = total * fade
        j_c = key
        v = tl.load(in_v + j_a * 640 + j_d + j_c * 16, mask=key_in & column_in, other=0)
        high = p.to(tl.bfloat16)
        total = tl.dot(high, v, total)
        if PARTS == 2:
            total = tl.dot((p - high.to(tl.float32)).to(tl.bfloat16), v, total)

    total = tl.div_rn(total, weights)
    at = column
    at_in = column_in
    at1 = row % 40
    at0 = row // 40
    at2 = at
    v1 = total.to(tl.bfloat16).to(tl.float32)
    tl.store(out_y + at0 * 640 + at1 * 16 + at2, v1.to(tl.bfloat16), mask=row_in & at_in)

# task: y = attention(q, k, v, causal=true) | q=bf16[2,40,16] k=bf16[2,40,16] v=bf16[2,40,16] |
# expect: accepted
# library: attention
