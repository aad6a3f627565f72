/* hone
language = "opencl"
pattern  = "columns"
note     = "@note@"
@requires@tunables = { ITEMS = [16, 64, 4, 256], @vec@ }
[[launch]]
kernel = "columns"
grid   = ["ceil_div((@lines@) * ceil_div(@width@, VEC), ITEMS)"]
block  = ["ITEMS"]
args   = [@args@]
*/
// Columns: a work item takes VEC columns that lie side by side, and goes down them. What is reduced does not lie along
// memory, but its neighbours do: items side by side read side by side, each keeps its running results to itself, one a
// lane, and nobody waits for anybody. Columns that fill no vector are done one by one, by the same text.
//   ITEMS  work items a group
//   VEC    columns an item
// (helpers)

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void columns(@parameters@) {
  const @index@ words = (@width_cl@ + VEC - 1) / VEC;
  const @index@ line = get_global_id(0) / words, column = get_global_id(0) % words * VEC;
  if (line >= @lines_cl@) return;
@whole@  for (@index@ k = column; k < @width_cl@ && k < column + VEC; ++k) {
    const @index@ row = line * @width_cl@ + k;
@single@  }
}
