# task: y = 2 * x | x=f32[1000] |
# expect: refused: restore_value says that twice changes x where it lies, which is an input
"""hone
language = "triton"

[[launch]]
kernel = "twice"
grid = ["ceil_div(1000, BLOCK)"]
args = ["x", "i32:1000"]
"""
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 256})], key=["n"], restore_value=["x_ptr"])
@triton.jit
def twice(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)
