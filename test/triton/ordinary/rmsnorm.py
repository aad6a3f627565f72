# task: y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5) * w | x=f32[B,D] w=f32[D] | B=7,D=100
# expect: accepted
"""hone
language = "triton"

[[launch]]
kernel = "_rms_norm_fwd"
grid = ["B"]
args = ["x", "y", "w", "i32:D", "i32:D", "f32:1e-5", "=1024"]
"""
import triton
import triton.language as tl


@triton.jit
def _rms_norm_fwd(X, Y, W, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
        _var += x * x
    var = tl.sum(_var, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.).to(tl.float32)
        tl.store(Y + cols, x * rstd * w, mask=mask)
