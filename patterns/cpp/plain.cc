/* hone
language = "c++"
pattern  = "plain"
note     = "plain loops, one function an operation"
@workspaces@@launches@*/
// Plain: the computation as it is written down, one function for each reduction, contraction, scan, …, and
// one for each group of element-wise operations that is stored; temporaries are workspaces. Sums run in
// double. Slow, but simple enough to be believed, and there is no task without it.
//
// i0, i1, … are positions in the result, r0, r1, … those that only the operand has.
#include "hone/cpu/plain.h"
@functions@
