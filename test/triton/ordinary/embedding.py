# task: y = embedding(ids, w) | ids=i64[T]:index(V) w=bf16[V,D] | T=33,V=100,D=72
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "embedding_forward"
grid = ["ceil_div(T, 16)", "ceil_div(D, 32)"]
args = ["w", "ids", "y", "i32:T", "i32:D", "=16", "=32"]
"""
import triton
import triton.language as tl


@triton.jit
def embedding_forward(embeddings_ptr, indices_ptr, output_ptr, n_elements, embedding_dim: int, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    start_m = pid_m * BLOCK_SIZE_M
    start_n = pid_n * BLOCK_SIZE_N
    offsets_m = start_m + tl.arange(0, BLOCK_SIZE_M)
    mask_m = offsets_m < n_elements
    indices = tl.load(indices_ptr + offsets_m, mask=mask_m, other=0)
    offsets_n = start_n + tl.arange(0, BLOCK_SIZE_N)
    mask_n = offsets_n < embedding_dim
    block_mask = mask_m[:, None] & mask_n[None, :]
    embeddings = tl.load(embeddings_ptr + indices[:, None] * embedding_dim + offsets_n[None, :], mask=block_mask, other=0.0)
    tl.store(output_ptr + offsets_m[:, None] * embedding_dim + offsets_n[None, :], embeddings, mask=block_mask)
