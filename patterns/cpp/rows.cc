/* hone
language = "c++"
pattern  = "@pattern@"
note     = "@note@"
@requires@tunables = { @tunables@ }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(@rows@, ROWS)"]
args   = [@args@]
@shared@*/
// Rows: one thread takes a row from its first element to its last, in as many passes as the
// computation has rounds of reductions. The first pass brings the row from memory into the caches,
// the others find it there: memory is read once however many passes there are.
//
// When it pays: softmax and norms and row reductions, as long as a row (and what is kept of it) fits
// the second-level cache, and there are rows enough for all threads.
//   ROWS    rows a block: fewer spread better, more cost less hand-off, and AHEAD = 1 asks for one row too many a block
//   UNROLL  independent accumulators and loads in flight
//   STREAM  store past the caches: right when the output is larger than they are
//   TOGETHER  short rows in step: the end of a pass is a wait, for sums across lanes and what is computed of them, and
//           they wait together (hone/cpu/loops.h)
//   AHEAD   1: ask for the next row during the pass between the first and the last (of two, the last), so that
//           memory does not idle while we compute;
//           2: ask for data a little ahead of the first pass
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

void rows(@parameters@, int64_t block) {
  const int64_t end = hone::min((block + 1) * ROWS, @rows_cpp@);
@body@@fence@}
