# task: y = take(w, ids, axis=0) | w=bf16[40,64] ids=i32[32]:index(40) |
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "gather_rows"
grid = ["ceil_div(32, 32)"]
args = ["w", "ids", "y", "i32:40", "=64", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def gather_rows(w_ptr, ids_ptr, y_ptr, V, D: tl.constexpr, BT: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    ids = tl.load(ids_ptr + t)
    desc = tl.make_tensor_descriptor(w_ptr, shape=[V, D], strides=[D, 1], block_shape=[1, D])
    rows = desc.gather(ids, 0)
    d = tl.arange(0, D)
    tl.store(y_ptr + t[:, None] * D + d[None, :], rows)
