# refused: inline assembly
import triton
import triton.language as tl
@triton.jit
def k(x):
    tl.store(x, tl.inline_asm_elementwise('mov.u32 $0, 1;', '=r', [], tl.int32, True, 1))
