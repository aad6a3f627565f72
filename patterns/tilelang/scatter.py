"""hone
language = "tilelang"
pattern  = "scatter"
note     = "@note@"
tunables = { LINES = [@lines_choices@], ROWS = [@rows_choices@], THREADS = [128, 256] }
constraints = ["@bytes@ * ROWS * LINES <= SHARED_MAX"]

[[launch]]
kernel = "scatter"
args   = [@args@]
"""
# Sums by index. A line is what lies along the axis that indices point into; a block owns ROWS places of LINES lines, keeps their sums in shared
# memory and goes through all indices: each line is one thread's, which adds what belongs to its places in the order of the source. No atomics.
#   LINES    lines a block, side by side in memory where the axis is not the last one
#   ROWS     places that it owns: more, and indices are read less often
#   THREADS  threads of a block
import tilelang.language as T
@functions@

def scatter(@constants@):
    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@lines@, LINES), T.ceildiv(@rows@, ROWS), threads=THREADS) as (across, down):
            sums = T.alloc_shared((ROWS, LINES), "@type@")
            for i, j in T.Parallel(ROWS, LINES):
                line = across * LINES + j
                at = down * ROWS + i
                if line < @lines@ and at < @rows@:
@start@
            for j in T.Parallel(LINES):
                line = across * LINES + j
                if line < @lines@:
                    for p in T.serial(@count@):
@aim@
                        own = aim - down * ROWS
                        if own >= 0 and own < ROWS:
@add@
            for i, j in T.Parallel(ROWS, LINES):
                line = across * LINES + j
                at = down * ROWS + i
                if line < @lines@ and at < @rows@:
@store@
    return run
