# task: y = conv2d(x, w, stride=2, padding=1) | x=f16[B,C,H,W] w=f16[O,C,3,3] | B=2,C=8,H=13,W=11,O=24
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "conv2d_implicit_gemm"
grid = ["ceil_div(B * ((H + 1) // 2) * ((W + 1) // 2), 32)", "ceil_div(O, 32)"]
args = ["x", "w", "y", "i32:B", "i32:C", "i32:H", "i32:W", "i32:O", "i32:(H + 1) // 2", "i32:(W + 1) // 2", "=3", "=3", "=2", "=1", "=32", "=32", "=16"]
"""
import triton
import triton.language as tl


@triton.jit
def conv2d_implicit_gemm(x_ptr, w_ptr, y_ptr, N, C, H, W, K, P, Q, R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    gemm_k = C * R * S
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = m // (P * Q)
    pq = m % (P * Q)
    p = pq // Q
    q = pq % Q
    k = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    h0 = p * STRIDE - PAD
    w0 = q * STRIDE - PAD
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for kk in range(0, tl.cdiv(gemm_k, BLOCK_K)):
        g = kk * BLOCK_K + tl.arange(0, BLOCK_K)
        c = g // (R * S)
        rs = g % (R * S)
        r = rs // S
        s = rs % S
        h = h0[:, None] + r[None, :]
        w = w0[:, None] + s[None, :]
        mask_x = (h >= 0) & (h < H) & (w >= 0) & (w < W) & (g[None, :] < gemm_k) & (n[:, None] < N)
        x = tl.load(x_ptr + ((n[:, None] * C + c[None, :]) * H + h) * W + w, mask=mask_x, other=0.0)
        wt = tl.load(w_ptr + k[None, :] * gemm_k + g[:, None], mask=(k[None, :] < K) & (g[:, None] < gemm_k), other=0.0)
        acc = tl.dot(x, wt, acc)
    y_off = ((n[:, None] * K + k[None, :]) * P + p[:, None]) * Q + q[:, None]
    tl.store(y_ptr + y_off, acc.to(tl.float16), mask=(n[:, None] < N) & (k[None, :] < K))
