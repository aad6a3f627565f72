"""hone
language = "tilelang"
pattern  = "sort"
note     = "@note@"
requires = [@requires@]
tunables = { ROWS = [@rows_choices@], TILE = [@tile_choices@], THREADS = [@threads_choices@] }

[[launch]]
kernel = "sort"
args   = [@args@]
"""
# Rows sorted in shared memory by a network whose steps all threads take together: of segments twice as long each time the second half is
# turned round. Each place takes the smaller or the larger of itself and another. Keys are whole numbers in the order that is asked for, and equal ones are in the order of their places, which go with them.
# Of a row longer than a tile the first KEPT stay, and further elements take the places behind them until none are left.
#   ROWS     rows a block sorts together
#   TILE     elements of a row at a time, a power of two: whole rows, or twice what is kept at least
#   THREADS  threads of a block
import tilelang.language as T
@functions@

def sort(@constants@):
    LENGTH, KEPT = @length@, @kept@
    WIDE = min(TILE, 1 << max(LENGTH - 1, 1).bit_length())
    MORE = WIDE - KEPT   # elements that each further step takes
    STEPS = 1 if LENGTH <= WIDE else 1 + (LENGTH - WIDE + MORE - 1) // MORE
    STAGES = WIDE.bit_length() - 1

    @T.prim_func
    def run(@parameters@):
        with T.Kernel(T.ceildiv(@rows@, ROWS), threads=THREADS) as block:
            keys = T.alloc_shared((ROWS, WIDE), "int64")
            fresh = T.alloc_fragment((ROWS, WIDE), "int64")
            other = T.alloc_local((1,), "int32")   # in a place of its own, as is what lies there: else TileLang takes a minute to look through it
            key = T.alloc_local((2,), "int64")
@more@            for step in T.serial(STEPS):
                T.sync_threads()   # TileLang sees no need of it from one step to the next, whose threads may have other places
                for @tile@:
                    row = block * ROWS + i
                    at = step * MORE + j
                    if step == 0 or j >= KEPT:
                        if row < @rows@ and at < LENGTH:
@load@                        else:
@nothing@                for stage in T.serial(STAGES):
                    for part in T.serial(stage + 1):
                        for @tile@:
                            other[0] = j ^ T.if_then_else(part == 0, (2 << stage) - 1, 1 << (stage - part))
                            key[0] = keys[i, j]
                            key[1] = keys[i, other[0]]
@exchange@                        for @tile@:
                            keys[i, j] = fresh[i, j]
@keep@            for @tile@:
                row = block * ROWS + i
                if row < @rows@ and j < KEPT:
                    place = @place@
@store@
    return run
