/* hone
language = "opencl"
pattern  = "split"
note     = "@note@"
@requires@tunables = { GROUPS = [@groups@], ITEMS = [@items@], @vec@ }
workspaces = { @workspaces@ }
@launches@*/
// Split: few rows, long ones: GROUPS groups share a row. Each launch goes over the row once; every group leaves what it
// found of its share in a workspace, and all groups of the next launch combine all of that for themselves, which is less
// work than a launch for it.
//   GROUPS  shares of a row: as many as keep the device busy
//   ITEMS   work items a group: 1 on a CPU, 64 and more on a GPU
//   VEC     elements at a time
// (helpers)
@functions@
