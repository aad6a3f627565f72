/* hone
language = "opencl"
pattern  = "rows"
note     = "@note@"
@requires@tunables = { ITEMS = [@items@], @vec@ }
[[launch]]
kernel = "rows"
grid   = ["@rows@"]
block  = ["ITEMS"]
args   = [@args@]
*/
// Rows: a work group a row. What a reduction finds decides over what follows, so a row is gone over once a reduction, and
// once more to write; from the second time on it comes from a cache.
//
// Each item folds its share of the row, VEC elements at a time, into registers; then the items' results meet in local
// memory, half as many at each step, with a barrier between the steps (COMBINE). Sums keep what rounding
// takes from them (ADD), so that it does not add up over a long row.
//   ITEMS  1 has no need of barriers: one item a row is what a CPU likes, whose cores have a row each anyway.
//          A GPU wants 64 and more: neighbouring items read neighbouring words.
//   VEC    elements at a time
// (helpers)

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void rows(@parameters@) {
@shares@  const int item = get_local_id(0);
  const @index@ row = get_group_id(0);
@body@}
