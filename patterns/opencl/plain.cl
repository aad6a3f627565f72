/* hone
language = "opencl"
pattern  = "plain"
note     = "plain loops, an item a piece"
tunables = { ITEMS = [1, 32, 64] }
@workspaces@@launches@*/
// Plain: the computation as it is written down, one function for each reduction, contraction, scan, …, and one for each
// group of element-wise operations that is stored; temporaries are workspaces. Sums run in double. The same loops as on a
// CPU in C++; a work item takes what there is a block. Slow, but there is no task without it.
//
// i0, i1, … are positions in the result, r0, r1, … those that only the operand has.
//   ITEMS  1 on a CPU, whose cores take a piece each; a GPU's units are 32 or 64 items wide
// (helpers)

// What an item takes at a time: columns of a product, elements of what goes element by element.
#define kColumns 256
#define kElements 4096
@functions@@entries@
