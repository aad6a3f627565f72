/* hone
language = "opencl"
pattern  = "map"
note     = "@note@"
@requires@tunables = { ITEMS = [64, 256, 16], @vec@, UNROLL = [1, 4, 16] }
[[launch]]
kernel = "map"
grid   = ["ceil_div(@length@, ITEMS * VEC * UNROLL)", "@rows@"]
block  = ["ITEMS", "1"]
args   = [@args@]
*/
// Map: every output element from the input elements at its place, all operations in one go: each input is read once,
// each output written once, nothing in between touches memory.
//
// A row is shared out between all items of the first dimension: item 0 takes the first VEC elements, item 1 the next, and
// so on, so that neighbours in a group read what lies side by side. What does not fill a vector at the row's end is done
// element by element, by the same text with VEC left out.
//   ITEMS   work items a group
//   VEC     elements at a time: what a CPU's registers hold, 4 on a GPU
//   UNROLL  vectors an item: more groups, or fewer with more to do
// (helpers)

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
__kernel void map(@parameters@) {
  const @index@ row = get_group_id(1);
@body@}
