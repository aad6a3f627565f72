# task: loss = cross_entropy(x, t, reduction="none") | x=f32[N,V] t=i64[N]:index(V) | N=17,V=3000
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "cross_entropy_fwd"
grid = ["N"]
args = ["x", "t", "loss", "i32:V", "i32:V", "=1024"]
"""
import triton
import triton.language as tl


@triton.jit
def cross_entropy_fwd(X_ptr, Y_ptr, loss_ptr, X_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + program_id)
    X_ptr += program_id * X_stride
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y)
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf"))
        block_max = tl.max(X_block)
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    tl.store(loss_ptr + program_id, lse - ori_X_y)
