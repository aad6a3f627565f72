"""hone
language = "tilelang"
pattern  = "attention"
note     = "@note@"
@requires@constraints = ["@shared@ <= SHARED_MAX"]
tunables = { BM = [@bm_choices@], BN = [@bn_choices@]@parts_choices@, STAGES = [@stages_choices@] }

[[launch]]
kernel = "attention"
args   = [@args@]
"""
# Attention: softmax over the keys of scores, times values, in one pass over the keys. A block has BM queries and keeps of each its
# greatest score, the sum of its weights and their sum of values so far; both sums are scaled anew when a greater score comes.
#   BM      queries of a block, 16 to a warp
#   BN      keys at a time, copied into shared memory STAGES deep@parts_legend@
import tilelang.language as T
@functions@

def attention(@constants@):
    HEAD, VALUE_HEAD = @head@, @value_head@  # multiples of 16 that hold the depth of the scores and the columns of the values

    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@rows_name@, BM), @batches@, threads=2 * BM) as (tile, batch):
            query = T.alloc_shared((BM, HEAD), "@type@")
            key = T.alloc_shared((BN, HEAD), "@type@")
            value = T.alloc_shared((BN, VALUE_HEAD), "@type@")
            scores = T.alloc_fragment((BM, BN), "float32")
            weights = @weights@
            total = T.alloc_fragment((BM, VALUE_HEAD), "float32")
            most = T.alloc_fragment((BM,), "float32")
            before = T.alloc_fragment((BM,), "float32")
            added = T.alloc_fragment((BM,), "float32")
            weight = T.alloc_fragment((BM,), "float32")
            # The last queries first: where keys are left out, those have most of them.
            first = (T.ceildiv(@rows_name@, BM) - 1 - tile) * BM
            last = T.min(first + BM, @rows_name@) - 1
            for i, d in T.Parallel(BM, HEAD):
                line = first + i
@query@            T.fill(most, -T.infinity("float32"))
            T.clear(weight)
            T.clear(total)
            for segment in T.Pipelined(@first_key@ // BN, T.ceildiv(@last_key@, BN), num_stages=STAGES):
                for j, d in T.Parallel(BN, HEAD):
                    at = segment * BN + j
@key@                for j, d in T.Parallel(BN, VALUE_HEAD):
                    at = segment * BN + j
@value@                T.clear(scores)
@scores@                for i, j in T.Parallel(BM, BN):
                    line = first + i
                    at = segment * BN + j
                    if line < @rows_name@ and at < @keys_name@:
@score@                    else:
                        scores[i, j] = -T.infinity("float32")
                T.copy(most, before)
                T.reduce_max(scores, most, dim=1, clear=False)
                for i in T.Parallel(BM):
                    shift = T.if_then_else(most[i] == -T.infinity("float32"), 0.0, most[i])
                    before[i] = T.exp2((before[i] - shift) * 1.4426950408889634)
                for i, j in T.Parallel(BM, BN):
                    shift = T.if_then_else(most[i] == -T.infinity("float32"), 0.0, most[i])
                    scores[i, j] = T.exp2((scores[i, j] - shift) * 1.4426950408889634)
                T.reduce_sum(scores, added, dim=1)
                for i in T.Parallel(BM):
                    weight[i] = weight[i] * before[i] + added[i]
                for i, d in T.Parallel(BM, VALUE_HEAD):
                    total[i, d] = total[i, d] * before[i]
@sums@            for i, d in T.Parallel(BM, VALUE_HEAD):
                line = first + i
                if line < @rows_name@ and d < @width_name@:
                    answer = total[i, d] / weight[i]
                    row = batch * @rows_name@ + line
                    at = d
@body@
    return run
