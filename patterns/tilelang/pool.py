"""hone
language = "tilelang"
pattern  = "pool"
note     = "@note@"
@requires@tunables = { BLOCK = [@block_choices@], THREADS = [128, 256] }

[[launch]]
kernel = "pool"
args   = [@args@]
"""
# Windows that are reduced to their greatest element or their sum, and what is done to it. A block computes BLOCK elements of the result;
# each goes through the taps of its window in order, and neighbours find in the cache what they share.
import tilelang.language as T
@functions@

def pool(@constants@):
    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@count@, BLOCK), threads=THREADS) as block:
            total = T.alloc_fragment((BLOCK,), "@type@")
            T.fill(total, @nothing@)
            for tap in T.serial(@taps@):
                for j in T.Parallel(BLOCK):
                    place = block * BLOCK + j
                    image = place // @space@
                    column = place % @space@
                    channel = 0
@places@                    if place < @count@@within@:
@take@            for j in T.Parallel(BLOCK):
                row = block * BLOCK + j
                if row < @count@:
@body@
    return run
