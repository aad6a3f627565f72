# refused: no @triton.jit
import triton
import triton.language as tl
