/* hone
language = "c++"
pattern  = "split"
note     = "@note@"
@requires@tunables = { @tunables@ }
workspaces = { @workspaces@ }
@launches@*/
// Split: each row is cut into CHUNKS, one block each. A launch runs one pass over its chunk and leaves
// a partial result; the blocks of the next launch combine the partial results of the row for themselves
// (a few dozen numbers, cheaper than a launch of its own) and go on.
//
// When it pays: few rows, long rows: sums of whole tensors, losses, norms of a matrix. The rows pattern
// would leave threads idle, and a row that exceeds the caches is read anew by each pass anyway.
//   CHUNKS  blocks a row
//   UNROLL  independent accumulators and loads in flight
//   AHEAD   2: prefetch a little ahead
//   STREAM  store past the caches
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

/// Chunks begin on multiples of 64 elements, so that none shares a cache line with its neighbour.
static inline int64_t chunk_start(int64_t length, int64_t chunk) {
  return hone::min(length, chunk * hone::align(hone::ceil_div(length, int64_t{CHUNKS}), 64));
}
@functions@
