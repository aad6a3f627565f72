# task: kk = take(kc, bt, axis=0); vv = take(vc, bt, axis=0); s = einsum("bhd,bpthd->bhpt", q, kk) * 0.25; pos = iota([B,H,P,16],2)*16 + iota([B,H,P,16],3); s2 = where(pos <= reshape(lens,[B,1,1,1]), s, -inf); p = softmax(reshape(s2,[B,H,P*16]), axis=-1); o = einsum("bhpt,bpthd->bhd", reshape(p,[B,H,P,16]), vv) | q=f32[B,H,16] kc=f32[NB,16,H,16] vc=f32[NB,16,H,16] bt=i32[B,P]:index(NB) lens=i32[B]:index(16*P) | B=3,H=2,NB=9,P=3
# expect: wrong
"""hone
language = "triton"
[[launch]]
kernel = "paged_attention_decode"
grid = ["B", "H"]
args = ["o", "q", "kc", "vc", "bt", "lens", "f32:0.25", "i32:P", "i32:H*16", "i32:16", "i32:16*H*16", "i32:H*16", "i32:16", "=16", "=16"]
"""
import triton
import triton.language as tl


@triton.jit
def paged_attention_decode(out_ptr, q_ptr, k_cache, v_cache, block_tables, context_lens, scale, max_blocks, stride_qb, stride_qh, stride_kb, stride_kt, stride_kh,
                           BLOCK: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    ctx = tl.load(context_lens + b) + 1
    d = tl.arange(0, D)
    t = tl.arange(0, BLOCK)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + d) * scale
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    i = 0
    while i * BLOCK < ctx:
        blk = tl.load(block_tables + b * max_blocks + i).to(tl.int64)
        pos = i * BLOCK + t
        k = tl.load(k_cache + blk * stride_kb + t[:, None] * stride_kt + h * stride_kh + d[None, :], mask=(pos < ctx)[:, None], other=0.0)
        s = tl.sum(q[None, :] * k, axis=1)
        s = s
        m_new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - m_new)
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, axis=0)
        v = tl.load(v_cache + blk * stride_kb + t[:, None] * stride_kt + h * stride_kh + d[None, :], mask=(pos < ctx)[:, None], other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        m = m_new
        i += 1
    tl.store(out_ptr + b * stride_qb + h * stride_qh + d, acc / l)
