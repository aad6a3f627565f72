# task: h = sum(one_hot(x, 16), axis=0) | x=i32[N]:index(16) | N=3000
# expect: accepted
"""hone
language = "triton"
workspaces = { hh = "zero i32[16]" }
[[launch]]
kernel = "histogram_kernel"
grid = ["ceil_div(N, 512)"]
args = ["x", "hh", "i32:N", "=512"]
[[launch]]
kernel = "widen"
grid = ["1"]
args = ["hh", "h"]
"""
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(x_ptr, h_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o, mask=m, other=0)
    h = tl.histogram(x, 16, mask=m)
    tl.atomic_add(h_ptr + tl.arange(0, 16), h)


@triton.jit
def widen(h_ptr, out_ptr):
    o = tl.arange(0, 16)
    tl.store(out_ptr + o, tl.load(h_ptr + o).to(tl.int64))
