# refused: not calls
import triton
import triton.language as tl
SIZE = open('/etc/passwd').read()
@triton.jit
def k(x):
    tl.store(x, 1.0)
