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
//
// Nothing is fused: in x * c - max(x * c) the difference of what is rounded is zero at the maximum; as a fused
// multiply-add it would be the rounding error, which for large x is anything.
#include "hone/cpu/plain.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#else
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif
@functions@
#if !defined(__clang__)
#pragma GCC pop_options
#endif
