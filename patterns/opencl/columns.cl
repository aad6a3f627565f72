/* hone
language = "opencl"
pattern  = "columns"
note     = "@note@"
@requires@tunables = { ITEMS = [64, 16, 256] }
[[launch]]
kernel = "columns"
grid   = ["ceil_div(@rows@, ITEMS)"]
block  = ["ITEMS"]
args   = [@args@]
*/
// Columns: a work item a column. What is reduced does not lie along memory, but its neighbours do: items side by side read
// side by side, each keeps its running result to itself, and nobody waits for anybody.
//   ITEMS  work items a group
// (helpers)

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void columns(@parameters@) {
  const @index@ row = get_global_id(0);
  if (row >= @rows_cl@) return;
@body@}
