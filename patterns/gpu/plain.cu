/* hone
language = "@language@"
pattern  = "plain"
note     = "plain loops, a thread a piece"
@workspaces@@launches@*/
// Plain: the computation as it is written down, one function for each reduction, contraction, scan, …, and
// one for each group of element-wise operations that is stored; temporaries are workspaces. Sums run in
// double. The same loops as on a CPU; a thread takes what there is a block. Slow, but there is no task
// without it.
//
// i0, i1, … are positions in the result, r0, r1, … those that only the operand has.
#include "hone/gpu/plain.h"

@functions@@entries@