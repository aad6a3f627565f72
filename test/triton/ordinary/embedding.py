# task: y = gather(t, i, axis=0) | t=f32[V,D] i=index(V)[N] | V=30,D=20,N=11
# expect: accepted
"""hone
language = "triton"
requires = ["D <= 32"]

[[launch]]
kernel = "embed"
grid = ["N"]
args = ["t", "i", "y", "i32:D", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def embed(table, ids, out, dim, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = tl.load(ids + row)
    d = tl.arange(0, BLOCK)
    tl.store(out + row * dim + d, tl.load(table + token * dim + d, mask=d < dim), mask=d < dim)
