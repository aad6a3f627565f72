"""hone
language = "tilelang"
pattern  = "rows"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_choices@], BLOCK = [@block_choices@], THREADS = [@threads_choices@] }

[[launch]]
kernel = "rows"
args   = [@args@]
"""
# Rows and what is reduced along them. A block takes ROWS of them and goes through them in segments of BLOCK, once a pass; its threads
# hold a sum each, which are combined at the end of the pass.
#   ROWS     rows a block
#   BLOCK    elements of a row at a time, a power of two: one segment where it covers the row
#   THREADS  threads that share a tile of both
import tilelang.language as T
@functions@

def rows(@constants@):
    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@rows_name@, ROWS), threads=THREADS) as block:
@body@
    return run
