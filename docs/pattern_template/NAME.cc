/* hone
language = "c++"
pattern  = "NAME"
note     = "@note@"
@requires@tunables = { ROWS = [16, 64, 4, 1], UNROLL = [2, 4, 1], STREAM = [1, 0] }
[[launch]]
kernel = "NAME"
grid   = ["ceil_div(@rows@, ROWS)"]
args   = [@args@]
*/
// NAME: what a block does, in two or three sentences, and what it never does (store something twice, read a row again).
//
// When it pays: the tasks it is for, and what is the bound there.
//   ROWS    rows a block: fewer spread better, more cost less hand-off
//   UNROLL  vectors in flight
//   STREAM  store past the caches: right when the output is larger than they are
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr int AHEAD = 0;

void NAME(@parameters@, int64_t block) {
  const int64_t end = hone::min((block + 1) * ROWS, @rows_cpp@);
  for (int64_t row = block * ROWS; row < end; ++row) {
@body@  }
  if constexpr (STREAM) hone::stream_fence();
}
