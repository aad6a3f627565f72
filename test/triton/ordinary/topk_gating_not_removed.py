# task: v, i = topk(x, 4) | x=f32[R,C] | R=9,C=100
# expect: wrong
"""hone
language = "triton"
requires = ["C >= 4"]
[[launch]]
kernel = "topk_gating"
grid = ["R"]
args = ["x", "v", "i", "i32:C", "=4", "=next_power_of_2(C)"]
"""
import triton
import triton.language as tl


@triton.jit
def topk_gating(x_ptr, v_ptr, i_ptr, n, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + o, mask=o < n, other=-float("inf"))
    for j in tl.static_range(K):
        best, idx = tl.max(x, axis=0, return_indices=True)
        tl.store(v_ptr + row * K + j, best)
        tl.store(i_ptr + row * K + j, idx)
        x = tl.where(x == best + 1, -float("inf"), x)
