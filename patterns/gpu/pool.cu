/* hone
language = "@language@"
pattern  = "pool"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = [
  "ACROSS * DOWN <= 1024 and ACROSS * DOWN % WAVE == 0",
  "ACROSS * VEC * WORDS >= VEC + @reach@ and VEC * WORDS * @held@ <= @registers@",
  "HOLD == 1 or (@stride@ * HOLD >= VEC * WORDS - 2 and HOLD <= 31)",
  "2 * DOWN * @bytes@ * (ACROSS * VEC * WORDS + @borders@ + @stride@ * HOLD) <= @shared@",
]
[[launch]]
kernel = "pool_windows"
grid   = ["@tiles@ * ceil_div(@units@, DOWN)"]
block  = ["ACROSS", "DOWN"]
args   = [@args@]
*/
// Pool: ACROSS threads take up words of a line side by side and march through the lines that MARCH windows in a column
// reach, keeping the windows under way in registers: a line serves every window that covers it. Each window on the march,
// when it is complete, is a line in shared memory, from which the windows across are taken and written side by side.
// DOWN such groups are a block: groups beside each other meet at the same lines, which the first-level cache holds.
//
// When it pays: always, for maxima, sums and means over windows. What is left to lose are lines that neighbouring
// blocks both read: the second-level cache gives them to one, as neighbours march towards each other.
//   ACROSS  threads a line: up to a wave they wait for nobody else
//   DOWN    lines a block
//   VEC     elements a word
//   WORDS   words of a line that a thread has; ACROSS * VEC * WORDS columns are read at a time
//   MARCH   windows on the way: more of them share more lines, fewer make more blocks
//   AHEAD   steps of the march, from one window's beginning to the next, whose planes are on their way
//   HOLD    windows across side by side that a thread takes, sharing their elements; 1: windows go round
#include "hone/gpu/pool.h"

@finish@
__global__ void __launch_bounds__(ACROSS * DOWN) pool_windows(@parameters@) {
  // Kernel, stride, dilation, padding before and behind: along the march, beside it, across.
  using MarchWindows = hone::gpu::Windows<@march@>;
  using BesideWindows = hone::gpu::Windows<@beside@>;
  using AcrossWindows = hone::gpu::Windows<@across@>;
  using PoolGroup = hone::gpu::PoolGroup<MarchWindows, BesideWindows, AcrossWindows, @take@, ACROSS, VEC, WORDS, MARCH, HOLD, AHEAD>;

  __shared__ PoolGroup::Lines lines_at[DOWN];
  const hone::gpu::PoolShape shape_at{@shape@};
  const int64_t tiles_at = PoolGroup::Place::count(shape_at), segments_at = (shape_at.march_windows + MARCH - 1) / MARCH;
  const int64_t asked_at = blockIdx.x / tiles_at * DOWN + threadIdx.y;
  const bool some_at = asked_at < shape_at.images * segments_at * shape_at.beside_windows;
  const int64_t unit_at = some_at ? asked_at : 0, beside_at = unit_at % shape_at.beside_windows;
  const int64_t segment_at = unit_at / shape_at.beside_windows % segments_at, image_at = unit_at / shape_at.beside_windows / segments_at;
  const PoolGroup::Place place_at(shape_at, blockIdx.x % tiles_at);
  const PoolGroup group_at{lines_at[threadIdx.y], shape_at, place_at, some_at};
  group_at.pool(@x@ + image_at * shape_at.march * shape_at.beside * shape_at.across, segment_at, beside_at,
               [&](int64_t m_at, int64_t a_at, PoolGroup::V pooled_at) {
                 const int64_t line_at = (image_at * shape_at.march_windows + m_at) * shape_at.beside_windows + beside_at;
                 finish(@names@, line_at, a_at, pooled_at);
               });
}
