/* hone
language = "c++"
pattern  = "columns"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["WIDTH * 4 % VECTOR_BYTES == 0"]
[[launch]]
kernel = "columns"
grid   = ["ceil_div(@columns@, WIDTH)"@outer_grid@]
args   = [@args@]
*/
// Columns: the reduced axes are not the innermost one, so neighbouring results lie side by side. A block
// takes a tile of WIDTH columns through all rows, whole vectors at a time; the running results stay in
// the first-level cache. Later passes find a tile that fits the second-level cache there.
//
// When it pays: sums, norms and softmax along any axis but the last.
//   WIDTH   columns a block: wide reads memory in longer runs, narrow leaves more blocks to share out
//   STREAM  store past the caches
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

void columns(@parameters@, int64_t tile@outer_parameter@) {
  const int64_t start = tile * WIDTH;
  const int64_t count = hone::min<int64_t>(WIDTH, @columns_cpp@ - start);
@body@@fence@}
