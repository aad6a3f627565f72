/* hone
language = "c++"
pattern  = "topk"
note     = "@note@"
requires = [@requires@]
tunables = { ROWS = [@rows_together@], MORE = [@more@], UNROLL = [4, 2, 8] }
[[launch]]
kernel = "topk"
grid   = ["ceil_div(@rows@, ROWS)"]
args   = [@args@, "shared"]
shared = "@shared@"
*/
// Top k: the first few of a row's sorted elements without sorting the row. Vectors of the row are compared with the last of the first k
// so far (hone/cpu/sort.h). After a few hundred elements hardly any comes before it, and the rest of the row costs a comparison of a vector.
// Elements go with their places, so values and where they were are one kernel, and what is computed of a row before goes no further than the cache.
//
// When it pays: k is a small part of the row. (Rows that get better towards their end have each element kept for a while.)
//   ROWS    rows a block: fewer spread better; of rows that lie side by side, element by element, so many are read together
//   MORE    elements that wait, behind the first k so far, to be put in order with them: the fewer, the sooner the k-th is known; each time
//           costs as much as k takes to go through
//   UNROLL  vectors compared before it is asked whether any has something to keep
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr bool STREAM = false;
constexpr int AHEAD = 0;
using Keys = @vector@;
using Entry = hone::Entry<hone::Lane<Keys>>;

void topk(@parameters@, void* shared, int64_t block) {
  const int64_t kept_at = @kept@, length_at = @length_cpp@, room_at = kept_at + MORE + hone::width<Keys>;
  const int64_t first_at = block * ROWS, end_at = hone::min<int64_t>(first_at + ROWS, @rows_cpp@);
  Entry* const entries_at = static_cast<Entry*>(shared);
@rows_read@  for (int64_t line_at = first_at; line_at < end_at; ++line_at) {
@row_read@    const Entry* const found_at = hone::first_of_row<@descending@, MORE, UNROLL, Keys>(row_at, length_at, kept_at, entries_at, entries_at + room_at);
@stores@  }
}
