"""hone
language = "tilelang"
pattern  = "product"
note     = "@note@"
@requires@tunables = { BM = [@bm_choices@], BN = [@bn_choices@], BK = [@bk_choices@], THREADS = [128, 256], STAGES = [@stages_choices@] }

[[launch]]
kernel = "product"
args   = [@args@]
"""
# A matrix product, and what is done to its result element by element. A block computes BM by BN of it, a segment of BK of the depth at a
# time, copied into shared memory STAGES deep.
import tilelang.language as T
@functions@

def product(@constants@):
    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@columns_name@, BN), T.ceildiv(@rows_name@, BM), @batches@, threads=THREADS) as (across_blocks, down_blocks, batch):
            x = T.alloc_shared((BM, BK), "@a_type@")
            y = T.alloc_shared((BK, BN), "@b_type@")
            total = T.alloc_fragment((BM, BN), "@accumulator@")
            T.clear(total)
            for segment in T.Pipelined(T.ceildiv(@depth_name@, BK), num_stages=STAGES):
                for i, k in T.Parallel(BM, BK):
                    line = down_blocks * BM + i
                    depth = segment * BK + k
@a_load@                for k, j in T.Parallel(BK, BN):
                    column = across_blocks * BN + j
                    depth = segment * BK + k
@b_load@@multiply@            for i, j in T.Parallel(BM, BN):
                line = down_blocks * BM + i
                column = across_blocks * BN + j
                if line < @rows_name@ and column < @columns_name@:
@body@
    return run
