# task: wi = i32(w); wu = where(wi < 0, wi + 256, wi); q = reshape(stack([mod(wu, 16), floor_divide(wu, 16)], axis=2), [32, 2*64]); m = mod(q, 8); v = where(m < 4, f32(m) * 0.5, where(m == 4, 2.0, where(m == 5, 3.0, where(m == 6, 4.0, 6.0)))); s = where(q >= 8, -v, v); y = f32(x) @ transpose(f32(s) * 2.0, [1, 0]) | x=bf16[32,2*64] w=i8[32,64] |
# expect: accepted
"""hone
language = "triton"
[[launch]]
kernel = "mxfp4_matmul"
grid = ["32 // 32", "32 // 32"]
args = ["x", "w", "y", "i32:32", "i32:2*64", "=32", "=32", "=128"]
"""
import triton
import triton.language as tl


@triton.jit
def mxfp4_matmul(x_ptr, w_ptr, y_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        kp = k0 // 2 + tl.arange(0, BK // 2)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :])
        w = tl.load(w_ptr + n[None, :] * (K // 2) + kp[:, None])
        sw = tl.full((BN, BK // 32), 128, tl.uint8)
        acc = tl.dot_scaled(x, None, "bf16", w.to(tl.uint8, bitcast=True), sw, "e2m1", acc)
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc)
