# task: y = sum(x, axis=0) | x=f32[300,70] |
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "column_sums"
grid = ["ceil_div(300, ROWS)", "ceil_div(70, COLUMNS)"]
args = ["x", "y", "i32:300", "i32:70"]
"""
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"ROWS": 32, "COLUMNS": 64}, num_warps=4), triton.Config({"ROWS": 64, "COLUMNS": 16}, num_warps=2)],
    key=["rows", "columns"],
    reset_to_zero=["out_ptr"],
)
@triton.jit
def column_sums(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    part = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.atomic_add(out_ptr + column, tl.sum(part, axis=0), mask=column < columns)
