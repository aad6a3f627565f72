# refused: host code
import triton
import triton.language as tl
def hook(a):
    pass
@triton.autotune([triton.Config({})], key=[], pre_hook=hook)
@triton.jit
def k(x):
    tl.store(x, 1.0)
