# task: y = a * sigmoid(a) * b | a=bf16[B,D] b=bf16[B,D] | B=7,D=100
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "_swiglu"
grid = ["B", "ceil_div(D, BLOCK)"]
args = ["a", "b", "y", "i32:D"]
"""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256}, num_warps=8)], key=["n"])
@triton.jit
def _swiglu(a_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n
    a = tl.load(a_ptr + row * n + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * n + cols, mask=mask, other=0).to(tl.float32)
    tl.store(y_ptr + row * n + cols, (a * tl.sigmoid(a) * b).to(y_ptr.dtype.element_ty), mask=mask)
