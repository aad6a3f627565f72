# task: c = a @ b | a=f32[70,64] b=f32[64,90] |
# expect: launch fails or wrong
"""hone
language = "triton"

[[launch]]
kernel = "k"
grid   = ["9"]
args   = ["a", "b", "c", "i32:70", "i32:90", "i32:64", "i32:64", "i32:1", "i32:90", "i32:1", "i32:90", "i32:1", "=32", "=32", "=16", "=2"]
"""
import triton
import triton.language as tl


@triton.jit
def k(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    per = GROUP * nn
    first = pid // per * GROUP
    size = min(nm - first, GROUP)
    pm = first + pid % per % GROUP
    pn = pid % per // GROUP
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    ap = a + (om[:, None] * sam + ok[None, :] * sak)
    bp = b + (ok[:, None] * sbk + on[None, :] * sbn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=ok[None, :] < K - at * BK, other=0.0)
        y = tl.load(bp, mask=ok[:, None] < K - at * BK, other=0.0)
        acc += tl.dot(x, y, input_precision='ieee')
        ap += BK * sak
        bp += BK * sbk
    cm = pm * BM + tl.arange(0, BM)
    cn = pn * BN + tl.arange(0, BN)
    tl.store(c + scm * cm[:, None] + scn * cn[None, :], acc, mask=(cm[:, None] < M) & (cn[None, :] < N))
