/* hone
language = "@language@"
pattern  = "split_scans"
note     = "@note@"
@requires@tunables = { @tunables@, BLOCKS = [4, 2, 8] }
constraints = [@constraints@]
workspaces = { @workspaces@ }
[[launch]]
kernel = "totals_of_chunks"
grid   = ["@grid@"]
block  = [@block@]
args   = [@args@]
[[launch]]
kernel = "scans_of_chunks"
grid   = ["@grid@"]
block  = [@block@]
args   = [@args@]
*/
// Split scans: what is scanned is cut into chunks, a block each. A first launch finds what each chunk comes to; in the second a block
// brings together what lies before its chunk, always in the same order, and goes on from there.
//
// When it pays: few rows, or columns, and long ones, where a block for each would leave multiprocessors idle. What is scanned is read
// twice, the second time from the second-level cache where it fits.
//   VEC     elements a word
//   UNROLL  words, or rows, that a thread has in flight
//   BLOCKS  blocks a multiprocessor gets
#include "hone/gpu/@header@.h"

__global__ void __launch_bounds__(@threads@) totals_of_chunks(@parameters@) {
  __shared__ @scratch@ totals;
  [[maybe_unused]] const int64_t tiles = @tiles@, across = blockIdx.x % tiles, chunk = blockIdx.x / tiles % chunks, row = blockIdx.x / tiles / chunks;
  const int64_t each = ((@length_cpp@ + @tile@ - 1) / (@tile@) + chunks - 1) / chunks * (@tile@), begin = chunk * each;
  const int64_t end = begin + each < @length_cpp@ ? begin + each : @length_cpp@;
  int turn = 0;
@prologue@  const bool aligned = @aligned@;
@body@}

__global__ void __launch_bounds__(@threads@) scans_of_chunks(@parameters@) {
  __shared__ @scratch@ totals;
  [[maybe_unused]] const int64_t tiles = @tiles@, across = blockIdx.x % tiles, chunk = blockIdx.x / tiles % chunks, row = blockIdx.x / tiles / chunks;
  const int64_t each = ((@length_cpp@ + @tile@ - 1) / (@tile@) + chunks - 1) / chunks * (@tile@), begin = chunk * each;
  const int64_t end = begin + each < @length_cpp@ ? begin + each : @length_cpp@, earlier = @earlier@;
  int turn = 0;
@finish_prologue@  const bool aligned = @aligned@;
@finish@}
