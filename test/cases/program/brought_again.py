"""Programs of the kinds that users bring, each a function that returns a module and its inputs: those of eighty-three, written before hone
saw one of them, that showed something. The others were tasks at first sight but for loops written out (brought.py, brought_later.py, brought_unseen.py)."""
import math

import torch, torch.nn as nn, torch.nn.functional as F


class Fn(nn.Module):
    def __init__(self, function, **params):
        super().__init__()
        self.function = function
        for name, value in params.items():
            if isinstance(value, nn.Module):
                setattr(self, name, value)
            elif value.is_floating_point():
                self.register_parameter(name, nn.Parameter(value))
            else:
                self.register_buffer(name, value)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def fn(f, *inputs, **params):
    return Fn(f, **params), list(inputs)


def r(*shape):
    return torch.randn(*shape)


class GraphAttention(nn.Module):
    """Softmax over the edges of each node, the largest taken away before exp."""
    def __init__(self, i, o, heads):
        super().__init__()
        self.h = heads
        self.l, self.rr = nn.Linear(i, o * heads), nn.Linear(i, o * heads)
        self.att = nn.Parameter(r(1, heads, o))
    def forward(self, x, edges):
        src, dst = edges[0], edges[1]
        n = x.shape[0]
        l, rr = self.l(x).view(n, self.h, -1), self.rr(x).view(n, self.h, -1)
        e = (F.leaky_relu(l[src] + rr[dst], 0.2) * self.att).sum(-1)
        at = dst[:, None].expand_as(e)
        top = torch.full((n, self.h), float("-inf")).scatter_reduce(0, at, e, "amax", include_self=False)
        ex = (e - top[dst]).exp()
        den = torch.zeros(n, self.h).scatter_add(0, at, ex)
        a = ex / (den[dst] + 1e-16)
        return torch.zeros_like(l).index_add(0, dst, l[src] * a.unsqueeze(-1)).flatten(1), a


def gat_softmax():
    return GraphAttention(8, 4, 2), [r(9, 8), torch.randint(0, 9, (2, 24))]


class PNA(nn.Module):
    """Four aggregators of neighbours: mean, largest, smallest, deviation."""
    def __init__(self, i, o):
        super().__init__()
        self.pre, self.post = nn.Linear(2 * i, i), nn.Linear(5 * i, o)
    def forward(self, x, edges):
        src, dst = edges
        m = self.pre(torch.cat([x[dst], x[src]], -1))
        at = dst[:, None].expand_as(m)
        z = torch.zeros_like(x)
        mean = z.scatter_reduce(0, at, m, "mean", include_self=False)
        sq = z.scatter_reduce(0, at, m * m, "mean", include_self=False)
        big, small = z.scatter_reduce(0, at, m, "amax", include_self=False), z.scatter_reduce(0, at, m, "amin", include_self=False)
        deg = torch.zeros(x.shape[0]).index_add(0, dst, torch.ones(dst.shape[0]))
        scale = torch.log(deg + 1)[:, None]
        return self.post(torch.cat([x, mean, big, small, F.relu(sq - mean * mean).sqrt() * scale], -1))


def pna():
    return PNA(6, 8), [r(9, 6), torch.randint(0, 9, (2, 24))]


def segment_ops():
    """index_reduce and segments of rows."""
    def f(self, x, seg):
        z = torch.zeros(5, x.shape[1])
        a = z.index_reduce(0, seg, x, "amax", include_self=False)
        b = (z + 1).index_reduce(0, seg, x, "prod")
        c = z.index_reduce(0, seg, x, "mean", include_self=False)
        d = z.index_reduce(0, seg, x, "amin")
        return a, b, c, d
    return fn(f, r(12, 4), torch.randint(0, 5, (12,)).sort().values)


def packing():
    """Numbers of four bits and masks packed by shifts and |, and unpacked."""
    def f(self, x, keep):
        s = x.abs().amax(-1, keepdim=True) / 7
        q = (x / s).round().clamp(-8, 7).to(torch.int32) + 8
        lo, hi = q[:, 0::2], q[:, 1::2]
        packed = lo | (hi << 4)
        bits = keep.int().view(keep.shape[0], -1, 8)
        words = (bits << torch.arange(8, dtype=torch.int32)).sum(-1).to(torch.int32)
        back = torch.stack([packed & 15, (packed >> 4) & 15], -1).flatten(1)
        return packed, words, (back - 8).float() * s, (packed ^ 0x55) & ~3
    return fn(f, r(4, 16), torch.rand(4, 16) > 0.5)


def hashes():
    """Integer hashes: xorshift, murmur's finaliser, a bloom filter, FNV, Morton's order."""
    def f(self, ids, xyz):
        x = ids.to(torch.int32)
        x = x ^ (x << 13)
        x = x ^ (x >> 17)
        x = x ^ (x << 5)
        m = ids.to(torch.int32)
        m = (m ^ (m >> 16)) * 0x45d9f3b
        m = (m ^ (m >> 16)) * 0x45d9f3b
        m = m ^ (m >> 16)
        slots = torch.stack([x % 64, m % 64], -1).long()
        h = torch.full_like(ids, 1469598103)
        for i in range(3):
            h = (h ^ ((ids >> (8 * i)) & 0xFF)) * 16777619
        def spread(v):
            v = (v | (v << 16)) & 0x030000FF
            v = (v | (v << 8)) & 0x0300F00F
            v = (v | (v << 4)) & 0x030C30C3
            return (v | (v << 2)) & 0x09249249
        xi, yi, zi = (spread(xyz[:, k]) for k in range(3))
        return x, slots, h & 0xFFFFFF, xi | (yi << 1) | (zi << 2), F.embedding(slots, self.table).sum(1)
    return fn(f, torch.randint(0, 2 ** 20, (24,)), torch.randint(0, 1024, (10, 3)), table=r(64, 5))


def hash_grid():
    """Instant NGP: corners of cells hashed by products and xor, into tables."""
    def f(self, x):
        out = []
        for level, res in enumerate((4, 9)):
            p = x * res
            low = p.floor()
            w = p - low
            low = low.long()
            acc = 0.0
            for c in range(8):
                o = torch.tensor([(c >> k) & 1 for k in range(3)])
                v = low + o
                h = v[:, 0] ^ (v[:, 1] * 2654435761) ^ (v[:, 2] * 805459861)
                wt = torch.where(o.bool(), w, 1 - w).prod(-1, keepdim=True)
                acc = acc + self.table[level][h % 32] * wt
            out.append(acc)
        return self.mlp(torch.cat(out, -1))
    return fn(f, torch.rand(20, 3), table=r(2, 32, 2), mlp=nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4)))


def bits_of_bytes():
    """u8 pictures and their bit planes; parity and counts of bits; gray codes; thresholds as masks."""
    def f(self, img):
        x = img.to(torch.int32)
        planes = torch.stack([(x >> k) & 1 for k in range(8)], 1)
        c = x - ((x >> 1) & 0x55)
        c = (c & 0x33) + ((c >> 2) & 0x33)
        c = (c + (c >> 4)) & 0x0F
        gray = x ^ (x >> 1)
        par = x
        for k in (4, 2, 1):
            par = par ^ (par >> k)
        return planes.float().mean((2, 3)), c, gray, par & 1, ((x & 0xF0) | (255 - x >> 4)).to(torch.uint8)
    return fn(f, torch.randint(0, 256, (2, 6, 6), dtype=torch.uint8))


def hamming():
    """Codes of bits by signs, distances by xor and a count of bits in a table."""
    def f(self, a, b):
        pack = lambda t: ((t > 0).long().view(t.shape[0], -1, 8) << torch.arange(8)).sum(-1)
        ca, cb = pack(a @ self.p), pack(b @ self.p)
        d = self.count[torch.bitwise_xor(ca[:, None], cb[None])].sum(-1)
        return d, (d * 8 + torch.arange(7)).topk(2, dim=1, largest=False).indices
    return fn(f, r(5, 12), r(7, 12), p=r(12, 16), count=torch.tensor([bin(i).count("1") for i in range(256)]))


def nucleus():
    """Repetition penalty, temperature, top-k, top-p, min-p, what is typical, and the best that is left."""
    def f(self, logits, history):
        score = logits.gather(1, history)
        score = torch.where(score < 0, score * 1.3, score / 1.3)
        x = logits.scatter(1, history, score) / 0.8
        kth = x.topk(20, -1).values[:, -1:]
        x = x.masked_fill(x < kth, float("-inf"))
        s, at = x.sort(-1, descending=True)
        drop = s.softmax(-1).cumsum(-1) > 0.9
        drop = torch.cat([torch.zeros_like(drop[:, :1]), drop[:, :-1]], 1)
        x = x.masked_fill(drop.scatter(1, at, drop), float("-inf"))
        p = x.softmax(-1)
        x = x.masked_fill(p < 0.02 * p.amax(-1, keepdim=True), float("-inf"))
        return x, x.argmax(-1), F.log_softmax(x, -1).max(-1).values
    return fn(f, r(3, 40), torch.randint(0, 40, (3, 6)))


def typical():
    def f(self, scores):
        n = F.log_softmax(scores, -1)
        p = n.exp()
        ent = -(n * p).nansum(-1, keepdim=True)
        shifted = torch.abs((-n) - ent)
        s, at = torch.sort(shifted, descending=False)
        cum = scores.gather(-1, at).softmax(-1).cumsum(-1)
        last = (cum < 0.8).sum(1).clamp_(max=cum.shape[-1] - 1)
        drop = s > s.gather(1, last.view(-1, 1))
        drop[..., :2] = False
        return scores.masked_fill(drop.scatter(1, at, drop), -float("inf"))
    return fn(f, r(3, 20))


def ctc_dp():
    """CTC's forward pass over labels with blanks between, in logs, by shifts and masks."""
    def f(self, logits, labels):
        lp = logits.log_softmax(-1)
        b, s = labels.shape
        ext = torch.zeros(b, 2 * s + 1, dtype=torch.long)
        ext[:, 1::2] = labels
        skip = torch.zeros_like(ext, dtype=torch.bool)
        skip[:, 2:] = (ext[:, 2:] != 0) & (ext[:, 2:] != ext[:, :-2])
        a = torch.full((b, 2 * s + 1), -1e30)
        first = lp[:, 0].gather(1, ext)
        a[:, :2] = first[:, :2]
        for t in range(1, lp.shape[1]):
            a1 = F.pad(a[:, :-1], (1, 0), value=-1e30)
            a2 = F.pad(a[:, :-2], (2, 0), value=-1e30).masked_fill(~skip, -1e30)
            a = torch.logaddexp(torch.logaddexp(a, a1), a2) + lp[:, t].gather(1, ext)
        return -torch.logaddexp(a[:, -1], a[:, -2]) / s
    return fn(f, r(2, 7, 6), torch.randint(1, 6, (2, 3)))


def counted():
    """bincount, histc, unique-like runs."""
    def f(self, x, ids):
        h = torch.histc(x, bins=8, min=-2, max=2)
        c = torch.bincount(ids, minlength=6)
        run = torch.cat([torch.ones(1, dtype=torch.bool), ids[1:] != ids[:-1]])
        seg = run.cumsum(0) - 1
        return h, c, seg
    return fn(f, r(30), torch.randint(0, 6, (20,)))


def adamw_foreach():
    def f(self, p, g, m, v, step):
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(t) for t in g]))
        g = [t * (1.0 / (norm + 1e-6)).clamp(max=1.0) for t in g]
        m2 = torch._foreach_lerp(m, g, 0.1)
        v2 = torch._foreach_add(torch._foreach_mul(v, 0.99), torch._foreach_mul(torch._foreach_mul(g, g), 0.01))
        c1, c2 = 1 - 0.9 ** step, 1 - 0.99 ** step
        out = []
        for pp, mm, vv in zip(p, m2, v2):
            pp = pp * (1 - 1e-3 * 0.01)
            out.append(pp - 1e-3 * (mm / c1) / ((vv / c2).sqrt() + 1e-8))
        return out, m2, v2
    ts = lambda: [r(4, 3), r(5)]
    return fn(f, ts(), ts(), ts(), [t.abs() for t in ts()], torch.tensor(3.0))


def lion_lamb():
    def f(self, p, g, m):
        u = torch.sign(m * 0.9 + g * 0.1)
        lion = p.mul(1 - 1e-4 * 0.1).add(u, alpha=-1e-4)
        upd = m / (g.abs() + 1e-6) + 0.01 * p
        wn, un = p.norm(), upd.norm()
        trust = torch.where((wn > 0) & (un > 0), wn / un, torch.ones_like(wn))
        ada = g / (g.square().mean(-1, keepdim=True).sqrt() * g.square().mean(-2, keepdim=True).sqrt() + 1e-8)
        sf = torch.addcmul(p, g, m, value=-0.5)
        return lion, p - 1e-3 * trust * upd, ada, torch.lerp(m, g, 1 - 0.99), sf, torch.copysign(p, g), p.addcdiv(m, g.abs() + 1, value=-0.1)
    return fn(f, r(6, 4), r(6, 4), r(6, 4))


def quaternions():
    def f(self, q, p, t):
        q = F.normalize(q, dim=-1)
        w, x, y, z = q.unbind(-1)
        rot = torch.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                           2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1).view(-1, 3, 3)
        moved = torch.einsum("bij,bnj->bni", rot, p) + t[:, None]
        v = q[:, None, 1:].expand(-1, p.shape[1], -1)
        uv = torch.cross(v, p, dim=-1)
        same = p + 2 * (w[:, None, None] * uv + torch.linalg.cross(v, uv))
        ang = 2 * torch.atan2(q[:, 1:].norm(dim=-1), w)
        dot = (q[:-1] * q[1:]).sum(-1).clamp(-0.9995, 0.9995)
        th = torch.acos(dot.abs())
        sl = (torch.sin(0.7 * th)[:, None] * q[:-1] + (torch.sin(0.3 * th) * dot.sign())[:, None] * q[1:]) / torch.sin(th)[:, None]
        tr = rot.diagonal(dim1=-2, dim2=-1).sum(-1)
        k = torch.zeros(q.shape[0], 3, 3)
        k[:, 0, 1], k[:, 0, 2], k[:, 1, 2] = -z, y, -x
        k = k - k.transpose(1, 2)
        rod = torch.eye(3) + torch.sin(ang)[:, None, None] * k + (1 - torch.cos(ang))[:, None, None] * (k @ k)
        return moved, same, sl, torch.acos(((tr - 1) / 2).clamp(-1 + 1e-6, 1 - 1e-6)), rod, torch.linalg.norm(rot, dim=(-2, -1))
    return fn(f, r(4, 4), r(4, 7, 3), r(4, 3))


def picked():
    """Elements picked and put: masked_scatter, take_along_dim, put, index_fill, where by masks, masks as indices of one value."""
    def f(self, x, mask, src, idx):
        a = x.masked_scatter(mask, src)
        b = torch.take_along_dim(x, x.argsort(1), 1)
        c = x.index_fill(1, idx, -1.0)
        d = torch.put(x, idx, src[0, : idx.shape[0]])
        e = x.clone()
        e[mask] = 0.5
        e[:, idx] = src[:, : idx.shape[0]]
        g = x.clone()
        g[x > 1] = -1.0
        h = torch.select_scatter(x, src[:, 0], 1, 2)
        return a, b, c, d, e, g, h, torch.diagonal_scatter(x[:, :4], torch.zeros(4)), torch.gather(x, 1, idx.expand(4, -1))
    return fn(f, r(4, 7), torch.rand(4, 7) > 0.5, r(4, 7), torch.tensor([1, 5, 2]))


def image_tokens():
    """LLaVA: a picture's features put where the text has a mark; positions by the count of what is kept."""
    def f(self, ids, feats):
        e = self.emb(ids)
        m = (ids == 7).unsqueeze(-1).expand_as(e)
        e = e.masked_scatter(m, self.proj(feats).to(e.dtype))
        pos = (ids != 0).long().cumsum(-1) - 1
        pos = pos.masked_fill(ids == 0, 1)
        return self.out(e + self.pe(pos))
    ids = torch.randint(1, 7, (2, 10))
    ids[0, 2:6] = 7
    ids[1, 1:3] = 7
    ids[1, 5:7] = 7
    return fn(f, ids, r(8, 6), emb=nn.Embedding(8, 12), proj=nn.Linear(6, 12), pe=nn.Embedding(10, 12), out=nn.Linear(12, 4))
