/* hone
language = "@language@"
pattern  = "map"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["VEC * UNROLL <= 32"]
[[launch]]
kernel = "map"
grid   = [@grid@]
block  = ["THREADS"]
args   = [@args@]
*/
// Map: every output element from the input elements at its place, all operations in one go: each input is read once,
// each output written once, nothing in between touches memory.
//
// When it pays: always for element-wise computations; bandwidth is the bound. A thread takes UNROLL words of VEC
// elements of each input before it computes anything: what is in flight hides the latency of memory, and blocks that
// come and go in order keep neighbouring addresses together in time.
//   THREADS  threads a block
//   VEC      elements a word: 16 bytes of the widest tensor is what the memory pipes like best
//   UNROLL   words in flight; more needs registers, and so has fewer blocks beside it
#include "hone/gpu/tile.h"

__global__ void __launch_bounds__(THREADS) map(@parameters@) {
  const int thread = static_cast<int>(threadIdx.x);
  const bool aligned = @aligned@;
@body@}
