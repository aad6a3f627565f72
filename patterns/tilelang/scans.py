"""hone
language = "tilelang"
pattern  = "scans"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_choices@], BLOCK = [@block_choices@], PIECES = [@pieces_choices@], THREADS = [@threads_choices@] }
constraints = ["PIECES <= BLOCK", "ROWS * (@line_bytes@ * (BLOCK + PIECES) + @total_bytes@ * (PIECES + 1)) <= SHARED_MAX"]

[[launch]]
kernel = "scans"
args   = [@args@]
"""
# Running sums and their kin along lines: along rows, or down columns, where neighbouring threads have neighbouring columns. A block takes ROWS
# lines and goes along them in segments of BLOCK, in order, carrying what came before. A segment lies in shared memory as PIECES, each of
# which one thread goes through: what it comes to, then (in doubling steps) what all before it come to, then its running results.
#   ROWS     lines a block
#   BLOCK    elements of a line at a time, a power of two
#   PIECES   threads a line, a power of two: 1 where there are lines enough, which saves a walk and the steps between
#   THREADS  threads of a block
import tilelang.language as T
@functions@

def scans(@constants@):
    EACH = BLOCK // PIECES
    TURNS = tuple(range(PIECES.bit_length() - 1))   # written out one by one: whose place is whose is known of numbers alone
    WIDE = BLOCK + PIECES   # a place stays free behind each piece: threads that walk side by side meet different banks

    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@rows_name@, ROWS), threads=THREADS) as block:
@body@
    return run
