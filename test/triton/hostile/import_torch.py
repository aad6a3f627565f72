# refused: import of torch
import triton
import triton.language as tl
import torch
@triton.jit
def k(x):
    tl.store(x, 1.0)
