/* hone
language = "@language@"
pattern  = "concat"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["VEC * UNROLL <= 32"@room@]
@launches@*/
// Concat: every piece of the result is made in its place, all operations in one go: what is joined is never stored on its own.
// Pieces of one shape share a launch, and so what they read is read once: both halves of a rotary embedding, say.
//
// When it pays: always where a concatenation feeds element-wise work or the result; bandwidth is the bound, as of a map.
@about@//   THREADS  threads a block
//   VEC      elements a word: 16 bytes of the widest tensor is what the memory pipes like best
//   UNROLL   words in flight
#include "hone/gpu/@header@.h"
@functions@