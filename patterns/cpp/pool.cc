/* hone
language = "c++"
pattern  = "pool"
note     = "@note@"
@requires@tunables = { CHUNK = [1024, 256, 4096], STREAM = [0, 1] }
[[launch]]
kernel = "pool"
grid   = ["ceil_div(@length@, CHUNK)", "@rows@"]
args   = [@args@, "shared"]
shared = "12 * CHUNK"
*/
// Pooling: a block takes CHUNK places of the result that lie side by side, goes over the window's taps one after another, and adds to
// its running results, which stay in the first-level cache, whatever elements a tap shows them: neighbours, or every so manyth. Then the element-wise
// rest of the computation runs over them, and the result is written once.
//
// When it pays: always; windows that overlap are read from the caches.
//   CHUNK   places a block
//   STREAM  store past the caches
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr int UNROLL = 2;
constexpr int AHEAD = 0;

// Stride, dilation and padding of each dimension.
using Windows = hone::Windows<false, @windows@>;

void pool(@parameters@, void* shared, int64_t chunk_at, int64_t row_at) {
  const Windows windows_at = {{@from_cpp@}, {@to_cpp@}, {@window_cpp@}};
  const int64_t start = chunk_at * CHUNK, count = hone::min<int64_t>(CHUNK, @length_cpp@ - start);
  const int64_t first_at = row_at * @length_cpp@ + start, places_at = Windows::product(windows_at.to);
  double* total_at = (double*)shared;
  float* pooled_at = (float*)(total_at + CHUNK);
  hone::pool_places<@reducer@>(pooled_at, total_at, @x@ + first_at / places_at * Windows::product(windows_at.from), windows_at, first_at % places_at, count);
  const float* product_row = pooled_at - start;
@epilogue@  if constexpr (STREAM) hone::stream_fence();
}
