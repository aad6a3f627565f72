/* hone
language = "@language@"
pattern  = "interleaved"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["VEC * UNROLL <= 32", "@bytes@ <= 49152"]
@launches@*/
// Interleaved: element-wise work between tensors that have a few elements of each place side by side (the channels of pixels) and tensors
// that have them far apart. A block takes a run of places and all that stands there. What lies far apart is read and written along its
// own lines, one of the few after the other; what lies side by side is a run of memory, which moves as words, whatever it begins on, and
// stands in shared memory in between.
//
// When it pays: wherever few channels are behind the places on one side and before them on the other. Written element by element, a
// sector of memory is written as often as it has elements of one place.
//   THREADS  threads a block
//   VEC      elements a word, of what lies far apart and begins on boundaries
//   UNROLL   words in flight; with it the run grows that stands in shared memory
#include "hone/gpu/interleave.h"
@functions@