/* hone
language = "@language@"
pattern  = "split"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["VEC * UNROLL <= 32", "THREADS % WAVE == 0"]
workspaces = { @workspaces@ }
@launches@*/
// Split: each row is shared out between the blocks of the whole device, a tile here and a tile there. A launch runs
// one pass and leaves a partial result for each block; the blocks of the next launch combine the row's partial results
// for themselves, in a fixed order, and go on.
//
// When it pays: few rows, long rows: losses, sums of whole tensors, norms of a matrix, statistics of a channel.
//   THREADS  threads a block
//   VEC      elements a word
//   UNROLL   words in flight
//   BLOCKS   blocks a multiprocessor gets, all rows together
@back@#include "hone/gpu/reduce.h"
@functions@
