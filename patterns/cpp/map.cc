/* hone
language = "c++"
pattern  = "map"
note     = "@note@"
@requires@tunables = { @tunables@ }
[[launch]]
kernel = "map"
grid   = ["ceil_div(@length@, CHUNK)"@outer_grid@]
args   = [@args@]
*/
// Map: every output element from the input elements at its place, all operations in one loop: each
// input is read once, each output written once, nothing in between touches memory.
//
// When it pays: always for element-wise computations; bandwidth is the bound.
//   CHUNK   elements a block of the innermost axis
//   UNROLL  vectors in flight
//   STREAM  store past the caches: right when the output is larger than they are
//   AHEAD   prefetch distance in cache lines, 0: leave it to the hardware
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

void map(@parameters@, int64_t chunk@outer_parameter@) {
  const int64_t start = chunk * CHUNK;
  const int64_t count = hone::min<int64_t>(CHUNK, @length_cpp@ - start);
@body@@fence@}
