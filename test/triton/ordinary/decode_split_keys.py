# task: s = einsum("bhgd,bshd->bhgs", reshape(q,[B,H,4,16]), k) * 0.25; p = softmax(s, axis=-1); o = reshape(einsum("bhgs,bshd->bhgd", p, v),[B,4*H,16]) | q=f32[B,4*H,16] k=f32[B,S,H,16] v=f32[B,S,H,16] | B=2,H=2,S=75
# expect: accepted
"""hone
language = "triton"
workspaces = { po = "f32[B, H, 4, SPLITS, 16]", pm = "f32[B, H, 4, SPLITS]", pl = "f32[B, H, 4, SPLITS]" }
tunables = { SPLITS = [3, 2] }
[[launch]]
kernel = "_fwd_kernel_stage1"
grid = ["B", "H", "SPLITS"]
args = ["q", "k", "v", "po", "pm", "pl", "f32:0.25", "i32:S", "i32:H"]
[[launch]]
kernel = "_fwd_kernel_stage2"
grid = ["B", "H"]
args = ["po", "pm", "pl", "o", "i32:H"]
"""
import triton
import triton.language as tl


@triton.jit
def _fwd_kernel_stage1(Q, K, V, PO, PM, PL, sm_scale, S, H, SPLITS: tl.constexpr, G: tl.constexpr = 4, D: tl.constexpr = 16, BLOCK_N: tl.constexpr = 16):
    b = tl.program_id(0)
    h = tl.program_id(1)
    sp = tl.program_id(2)
    g = tl.arange(0, G)
    d = tl.arange(0, D)
    per = tl.cdiv(S, SPLITS)
    lo = per * sp
    hi = tl.minimum(lo + per, S)
    q = tl.load(Q + ((b * H + h) * G + g[:, None]) * D + d[None, :])
    e_max = tl.zeros([G], dtype=tl.float32) - float("inf")
    e_sum = tl.zeros([G], dtype=tl.float32)
    acc = tl.zeros([G, D], dtype=tl.float32)
    for start in range(lo, hi, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(K + ((b * S + n[:, None]) * H + h) * D + d[None, :], mask=n[:, None] < hi, other=0.0)
        qk = tl.sum(q[:, None, :] * k[None, :, :], 2) * sm_scale
        qk = tl.where(n[None, :] < hi, qk, float("-inf"))
        v = tl.load(V + ((b * S + n[:, None]) * H + h) * D + d[None, :], mask=n[:, None] < hi, other=0.0)
        n_max = tl.maximum(tl.max(qk, 1), e_max)
        re = tl.exp(e_max - n_max)
        p = tl.exp(qk - n_max[:, None])
        acc *= re[:, None]
        acc += tl.sum(p[:, :, None] * v[None, :, :], 1)
        e_sum = e_sum * re + tl.sum(p, 1)
        e_max = n_max
    base = ((b * H + h) * G + g) * SPLITS + sp
    tl.store(PO + base[:, None] * D + d[None, :], acc)
    tl.store(PM + base, e_max)
    tl.store(PL + base, e_sum)


@triton.jit
def _fwd_kernel_stage2(PO, PM, PL, O, H, SPLITS: tl.constexpr, G: tl.constexpr = 4, D: tl.constexpr = 16):
    b = tl.program_id(0)
    h = tl.program_id(1)
    g = tl.arange(0, G)
    d = tl.arange(0, D)
    m = tl.zeros([G], tl.float32) - float("inf")
    l = tl.zeros([G], tl.float32)
    acc = tl.zeros([G, D], tl.float32)
    for sp in tl.static_range(SPLITS):
        base = ((b * H + h) * G + g) * SPLITS + sp
        pm = tl.load(PM + base)
        n = tl.maximum(m, pm)
        a = tl.where(pm > -float("inf"), tl.exp(pm - n), 0.0)
        r = tl.where(m > -float("inf"), tl.exp(m - n), 0.0)
        l = l * r + a * tl.load(PL + base)
        acc = acc * r[:, None] + a[:, None] * tl.load(PO + base[:, None] * D + d[None, :])
        m = n
    tl.store(O + ((b * H + h) * G + g[:, None]) * D + d[None, :], acc / l[:, None])
