/* hone
language = "c++"
pattern  = "sort"
note     = "@note@"
requires = [@requires@]
tunables = { ROWS = [@rows_together@], BITS = [8, 11] }
[[launch]]
kernel = "sort"
grid   = ["ceil_div(@rows@, ROWS)"]
args   = [@args@, "shared"]
shared = "@shared@"
*/
// Sort: a row at a time. Each element becomes a whole number, its key's order in the upper bits and its place below (hone/cpu/sort.h); rows
// of such are sorted digit by digit, with as many passes as there are digits, however long the row; digits that all keys of a row have
// in common (of 16-bit floats the lower half) cost none, and rows of a few elements are sorted by insertion. A sort and its argsort are one
// kernel, of a top k only the first k are written, and what is computed of a row before goes no further than the cache.
//
// When it pays: always where rows are sorted, as long as there are rows enough for all threads.
//   ROWS  rows a block: fewer spread better; of rows that lie side by side, element by element, so many are read together
//   BITS  of a digit: 8 suit rows of hundreds, 11 have fewer passes over rows of many thousands
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr bool STREAM = false;
constexpr int UNROLL = 2, AHEAD = 0;
using Keys = @vector@;
using Entry = hone::Entry<hone::Lane<Keys>>;

void sort(@parameters@, void* shared, int64_t block) {
  const int64_t length_at = @length_cpp@, room_at = length_at;
  const int64_t first_at = block * ROWS, end_at = hone::min<int64_t>(first_at + ROWS, @rows_cpp@);
  Entry* const entries_at = static_cast<Entry*>(shared);
@rows_read@  for (int64_t line_at = first_at; line_at < end_at; ++line_at) {
@row_read@    const Entry* const found_at = hone::sorted_row<@descending@, BITS, Keys>(row_at, length_at, entries_at, entries_at + room_at);
@stores@  }
}
