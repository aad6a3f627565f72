"""hone
language = "tilelang"
pattern  = "map"
note     = "@note@"
@requires@tunables = { BLOCK = [@block_choices@], THREADS = [128, 256] }

[[launch]]
kernel = "elements"
args   = [@args@]
"""
# Element by element, in one pass over memory: a block computes BLOCK elements in the order of the output.
#   BLOCK    elements a block: the more a thread has, the more loads are under way and the more registers it takes
#   THREADS  threads that share them
import tilelang.language as T
@functions@

def elements(@constants@):
    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@count@, BLOCK), threads=THREADS) as block:
            for j in T.Parallel(BLOCK):
                place = block * BLOCK + j
                if place < @count@:
@body@
    return run
