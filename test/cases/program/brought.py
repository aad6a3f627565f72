"""Programs of the kinds that users bring, each a function that returns a module and its inputs: networks as one finds them, and modules with
what tends to be forgotten (scalars, buffers changed in place, dictionaries, views, element types that the language lacks)."""
import math
import torch, torch.nn as nn, torch.nn.functional as F


def randn(*shape):
    return torch.randn(*shape)


class BertLayer(nn.Module):

    def __init__(self, d=32, h=4):
        super().__init__()
        self.h = h
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.o = nn.Linear(d, d)
        self.n1 = nn.LayerNorm(d, eps=1e-12)
        self.n2 = nn.LayerNorm(d, eps=1e-12)
        self.a = nn.Linear(d, 4 * d)
        self.b = nn.Linear(4 * d, d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        B, T, D = x.shape
        sp = lambda t: t.view(B, T, self.h, D // self.h).permute(0, 2, 1, 3)
        q, k, v = (sp(self.q(x)), sp(self.k(x)), sp(self.v(x)))
        w = q @ k.transpose(-1, -2) / math.sqrt(D // self.h) + mask
        w = self.drop(F.softmax(w, -1))
        c = (w @ v).permute(0, 2, 1, 3).contiguous().view(B, T, D)
        x = self.n1(x + self.drop(self.o(c)))
        return self.n2(x + self.drop(self.b(F.gelu(self.a(x)))))


class Bert(nn.Module):

    def __init__(self, V=101, d=32, L=2, T=16):
        super().__init__()
        self.w = nn.Embedding(V, d, padding_idx=0)
        self.p = nn.Embedding(T, d)
        self.t = nn.Embedding(2, d)
        self.n = nn.LayerNorm(d)
        self.layers = nn.ModuleList([BertLayer(d) for _ in range(L)])
        self.pool = nn.Linear(d, d)
        self.register_buffer('position_ids', torch.arange(T).unsqueeze(0))

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.w(input_ids) + self.p(self.position_ids[:, :input_ids.shape[1]]) + self.t(token_type_ids)
        x = self.n(x)
        m = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        for l in self.layers:
            x = l(x, m)
        return {'last_hidden_state': x, 'pooler_output': torch.tanh(self.pool(x[:, 0]))}


def bert():
    return (Bert(), [torch.randint(0, 101, (2, 12)), torch.tensor([[1] * 12, [1] * 9 + [0] * 3]), torch.randint(0, 2, (2, 12))])


class ViT(nn.Module):

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 32, 4, 4)
        self.cls = nn.Parameter(randn(1, 1, 32))
        self.pos = nn.Parameter(randn(1, 17, 32))
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, activation='gelu', batch_first=True, norm_first=True, dropout=0.1), 2,
            enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        return self.head(self.enc(x)[:, 0])


def vit():
    return (ViT(), [randn(2, 3, 16, 16)])


class LN2d(nn.Module):

    def __init__(self, c):
        super().__init__()
        self.w = nn.Parameter(torch.ones(c))
        self.b = nn.Parameter(torch.zeros(c))

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        v = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(v + 1e-06)
        return self.w[:, None, None] * x + self.b[:, None, None]


class ConvNeXt(nn.Module):

    def __init__(self, c=16):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 4, 4)
        self.n0 = LN2d(c)
        self.dw = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.n = nn.LayerNorm(c, eps=1e-06)
        self.a = nn.Linear(c, 4 * c)
        self.b = nn.Linear(4 * c, c)
        self.g = nn.Parameter(0.1 * torch.ones(c))

    def forward(self, x):
        x = self.n0(self.stem(x))
        y = self.dw(x).permute(0, 2, 3, 1)
        y = self.g * self.b(F.gelu(self.a(self.n(y))))
        return x + y.permute(0, 3, 1, 2)


def convnext():
    return (ConvNeXt(), [randn(2, 3, 32, 32)])


class MobileBlock(nn.Module):

    def __init__(self, i=8, o=16, t=4, st=2):
        super().__init__()
        h = i * t
        self.net = nn.Sequential(nn.Conv2d(i, h, 1, bias=False), nn.BatchNorm2d(h), nn.ReLU6(True), nn.Conv2d(h, h, 3, st, 1, groups=h, bias=False),
            nn.BatchNorm2d(h), nn.ReLU6(True), nn.Conv2d(h, o, 1, bias=False), nn.BatchNorm2d(o))
        self.b2 = nn.Sequential(nn.Conv2d(o, o * 2, 1, bias=False), nn.BatchNorm2d(o * 2), nn.Hardswish(True), nn.Conv2d(o * 2, o, 1, bias=False),
            nn.BatchNorm2d(o))

    def forward(self, x):
        x = self.net(x)
        return x + self.b2(x)


def mobilenet():
    m = MobileBlock()
    for b in m.modules():
        if isinstance(b, nn.BatchNorm2d):
            b.running_mean.normal_()
            b.running_var.uniform_(0.5, 2)
    return (m, [randn(2, 8, 16, 16)])


class SE(nn.Module):

    def __init__(self, c):
        super().__init__()
        self.p = nn.AdaptiveAvgPool2d(1)
        self.a = nn.Conv2d(c, c // 4, 1)
        self.b = nn.Conv2d(c // 4, c, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.b(F.silu(self.a(self.p(x)), inplace=True)))


class EffBlock(nn.Module):

    def __init__(self, c=16):
        super().__init__()
        self.e = nn.Conv2d(c, 4 * c, 1, bias=False)
        self.n1 = nn.BatchNorm2d(4 * c, eps=0.001)
        self.d = nn.Conv2d(4 * c, 4 * c, 5, padding=2, groups=4 * c, bias=False)
        self.n2 = nn.BatchNorm2d(4 * c)
        self.se = SE(4 * c)
        self.o = nn.Conv2d(4 * c, c, 1, bias=False)
        self.n3 = nn.BatchNorm2d(c)
        self.fc = nn.Linear(c, 10)

    def forward(self, x):
        y = F.silu(self.n1(self.e(x)))
        y = F.silu(self.n2(self.d(y)))
        x = x + self.n3(self.o(self.se(y)))
        return self.fc(x.mean([2, 3]))


def efficientnet():
    return (EffBlock(), [randn(2, 16, 14, 14)])


class UNet(nn.Module):

    def __init__(self, c=8):
        super().__init__()
        blk = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        self.d1 = blk(3, c)
        self.d2 = blk(c, 2 * c)
        self.m = blk(2 * c, 4 * c)
        self.u2 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2)
        self.c2 = blk(4 * c, 2 * c)
        self.u1 = nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.c1 = blk(2 * c, c)
        self.out = nn.Conv2d(c, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.m(F.max_pool2d(b, 2))
        u = self.u2(m)
        u = F.pad(u, [0, b.shape[3] - u.shape[3], 0, b.shape[2] - u.shape[2]])
        u = self.c2(torch.cat([b, u], 1))
        u = self.c1(torch.cat([a, self.u1(u)], 1))
        return self.out(u)


def unet():
    return (UNet(), [randn(1, 3, 16, 16)])


class Mamba(nn.Module):

    def __init__(self, d=16, n=4, k=4, r=2):
        super().__init__()
        e = 2 * d
        self.n, self.r, self.e = (n, r, e)
        self.inp = nn.Linear(d, 2 * e, bias=False)
        self.conv = nn.Conv1d(e, e, k, groups=e, padding=k - 1)
        self.xp = nn.Linear(e, r + 2 * n, bias=False)
        self.dt = nn.Linear(r, e)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, n + 1).float().repeat(e, 1)))
        self.D = nn.Parameter(torch.ones(e))
        self.out = nn.Linear(e, d, bias=False)

    def forward(self, x):
        B, L, _ = x.shape
        x, z = self.inp(x).chunk(2, -1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :L].transpose(1, 2))
        dt, Bm, C = self.xp(x).split([self.r, self.n, self.n], -1)
        dt = F.softplus(self.dt(dt))
        A = -torch.exp(self.A_log)
        dA = torch.exp(torch.einsum('bld,dn->bldn', dt, A))
        dB = torch.einsum('bld,bln,bld->bldn', dt, Bm, x)
        h = torch.zeros(B, self.e, self.n, device=x.device)
        ys = []
        for i in range(L):
            h = dA[:, i] * h + dB[:, i]
            ys.append(torch.einsum('bdn,bn->bd', h, C[:, i]))
        y = torch.stack(ys, 1) + x * self.D
        return self.out(y * F.silu(z))


def mamba():
    return (Mamba(), [randn(2, 12, 16)])


class LinearAttention(nn.Module):

    def __init__(self, d=32, h=4):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.o = nn.Linear(d, d)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        q, k = (F.elu(q) + 1, F.elu(k) + 1)
        kv = torch.cumsum(torch.einsum('bhti,bhtj->bhtij', k, v), 2)
        z = torch.cumsum(k, 2)
        y = torch.einsum('bhti,bhtij->bhtj', q, kv) / (torch.einsum('bhti,bhti->bht', q, z)[..., None] + 1e-06)
        return self.o(y.transpose(1, 2).reshape(B, T, D))


def linear_attention():
    return (LinearAttention(), [randn(2, 16, 32)])


class RWKV(nn.Module):

    def __init__(self, d=32):
        super().__init__()
        self.mk = nn.Parameter(torch.rand(1, 1, d))
        self.mv = nn.Parameter(torch.rand(1, 1, d))
        self.mr = nn.Parameter(torch.rand(1, 1, d))
        self.k = nn.Linear(d, d, bias=False)
        self.v = nn.Linear(d, d, bias=False)
        self.r = nn.Linear(d, d, bias=False)
        self.o = nn.Linear(d, d, bias=False)
        self.decay = nn.Parameter(randn(d))
        self.first = nn.Parameter(randn(d))
        self.shift = nn.ZeroPad2d((0, 0, 1, -1))

    def forward(self, x):
        xx = self.shift(x)
        k = self.k(x * self.mk + xx * (1 - self.mk))
        v = self.v(x * self.mv + xx * (1 - self.mv))
        r = torch.sigmoid(self.r(x * self.mr + xx * (1 - self.mr)))
        aa = torch.zeros_like(k[:, 0])
        bb = torch.zeros_like(aa)
        pp = torch.full_like(aa, -1e+38)
        out = []
        w = -torch.exp(self.decay)
        for t in range(x.shape[1]):
            kt, vt = (k[:, t], v[:, t])
            ww = self.first + kt
            p = torch.maximum(pp, ww)
            e1 = torch.exp(pp - p)
            e2 = torch.exp(ww - p)
            out.append((e1 * aa + e2 * vt) / (e1 * bb + e2))
            ww = pp + w
            p = torch.maximum(ww, kt)
            e1 = torch.exp(ww - p)
            e2 = torch.exp(kt - p)
            aa = e1 * aa + e2 * vt
            bb = e1 * bb + e2
            pp = p
        return self.o(r * torch.stack(out, 1))


def rwkv():
    return (RWKV(), [randn(2, 8, 32)])


class MoE(nn.Module):

    def __init__(self, d=16, E=4, k=2):
        super().__init__()
        self.k = k
        self.g = nn.Linear(d, E, bias=False)
        self.w1 = nn.Parameter(randn(E, d, 2 * d) * 0.2)
        self.w2 = nn.Parameter(randn(E, 2 * d, d) * 0.2)

    def forward(self, x):
        B, T, D = x.shape
        f = x.reshape(-1, D)
        p = F.softmax(self.g(f), -1)
        w, i = torch.topk(p, self.k, -1)
        w = w / w.sum(-1, keepdim=True)
        h = F.silu(torch.einsum('nd,edf->nef', f, self.w1))
        y = torch.einsum('nef,efd->ned', h, self.w2)
        sel = torch.gather(y, 1, i[..., None].expand(-1, -1, D))
        load = F.one_hot(i, p.shape[-1]).float().mean((0, 1))
        return ((sel * w[..., None]).sum(1).view(B, T, D), (load * p.mean(0)).sum())


def moe():
    return (MoE(), [randn(2, 6, 16)])


class MoELoop(nn.Module):
    """As Mixtral's first code: data dependent."""

    def __init__(self, d=16, E=4):
        super().__init__()
        self.g = nn.Linear(d, E)
        self.e = nn.ModuleList([nn.Linear(d, d) for _ in range(E)])

    def forward(self, x):
        w, i = torch.topk(F.softmax(self.g(x), -1), 2, -1)
        out = torch.zeros_like(x)
        for n, e in enumerate(self.e):
            t, k = torch.where(i == n)
            out.index_add_(0, t, e(x[t]) * w[t, k, None])
        return out


def moe_loop():
    return (MoELoop(), [randn(10, 16)])


class LSTMTagger(nn.Module):

    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(50, 16)
        self.l = nn.LSTM(16, 16, 2, batch_first=True, bidirectional=True, dropout=0.2)
        self.fc = nn.Linear(32, 5)

    def forward(self, x):
        y, (h, c) = self.l(self.e(x))
        return (F.log_softmax(self.fc(y), -1), h[-1])


def lstm():
    return (LSTMTagger(), [torch.randint(0, 50, (3, 7))])


class GRUCellModel(nn.Module):

    def __init__(self):
        super().__init__()
        self.c = nn.GRUCell(8, 16)
        self.o = nn.Linear(16, 4)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 16)
        o = []
        for t in range(x.shape[1]):
            h = self.c(x[:, t], h)
            o.append(self.o(h))
        return torch.stack(o, 1)


def grucell():
    return (GRUCellModel(), [randn(3, 6, 8)])


class LSTMCellModel(nn.Module):

    def __init__(self):
        super().__init__()
        self.c = nn.LSTMCell(8, 16)

    def forward(self, x, state):
        h, c = state
        for xt in x.unbind(1):
            h, c = self.c(xt, (h, c))
        return (h, c)


def lstmcell():
    return (LSTMCellModel(), [randn(3, 6, 8), (randn(3, 16), randn(3, 16))])


class RMS(nn.Module):

    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-05)
        return (y * self.w).type_as(x)


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class LlamaAttn(nn.Module):

    def __init__(self, d=32, h=4, kv=2):
        super().__init__()
        self.h, self.kv, self.e = (h, kv, d // h)
        self.q = nn.Linear(d, d, bias=False)
        self.k = nn.Linear(d, kv * self.e, bias=False)
        self.v = nn.Linear(d, kv * self.e, bias=False)
        self.o = nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin, cache=None, pos=None):
        B, T, D = x.shape
        q = rope(self.q(x).view(B, T, self.h, self.e).transpose(1, 2), cos, sin)
        k = rope(self.k(x).view(B, T, self.kv, self.e).transpose(1, 2), cos, sin)
        v = self.v(x).view(B, T, self.kv, self.e).transpose(1, 2)
        if cache is not None:
            k = torch.cat([cache[0], k], 2)
            v = torch.cat([cache[1], v], 2)
        r = self.h // self.kv
        kk = k[:, :, None].expand(B, self.kv, r, k.shape[2], self.e).reshape(B, self.h, -1, self.e)
        vv = v[:, :, None].expand(B, self.kv, r, v.shape[2], self.e).reshape(B, self.h, -1, self.e)
        y = F.scaled_dot_product_attention(q, kk, vv, is_causal=cache is None and T > 1)
        return (self.o(y.transpose(1, 2).reshape(B, T, D)), (k, v))


class Llama(nn.Module):

    def __init__(self, V=64, d=32, L=2):
        super().__init__()
        self.e = nn.Embedding(V, d)
        self.a = nn.ModuleList([LlamaAttn(d) for _ in range(L)])
        self.n = nn.ModuleList([RMS(d) for _ in range(2 * L + 1)])
        self.g = nn.ModuleList([nn.Linear(d, 64, bias=False) for _ in range(L)])
        self.u = nn.ModuleList([nn.Linear(d, 64, bias=False) for _ in range(L)])
        self.dn = nn.ModuleList([nn.Linear(64, d, bias=False) for _ in range(L)])
        self.head = nn.Linear(d, V, bias=False)
        self.head.weight = self.e.weight
        self.register_buffer('inv', 1 / 10000 ** (torch.arange(0, 8, 2).float() / 8), persistent=False)

    def forward(self, ids, caches=None, position=None):
        T = ids.shape[1]
        x = self.e(ids)
        p = torch.arange(T) if position is None else position
        f = torch.outer(p.float(), self.inv)
        f = torch.cat([f, f], -1)
        cos, sin = (f.cos(), f.sin())
        out = []
        for i in range(len(self.a)):
            y, c = self.a[i](self.n[2 * i](x), cos, sin, None if caches is None else caches[i])
            out.append(c)
            x = x + y
            h = self.n[2 * i + 1](x)
            x = x + self.dn[i](F.silu(self.g[i](h)) * self.u[i](h))
        return (self.head(self.n[-1](x)), out)


def llama_prefill():
    return (Llama(), [torch.randint(0, 64, (2, 10))])


def llama_decode():
    return (Llama(), [torch.randint(0, 64, (2, 1)), [(randn(2, 2, 5, 8), randn(2, 2, 5, 8)) for _ in range(2)], torch.tensor([5])])


class StaticCache(nn.Module):
    """KV cache as buffers that are written in place."""

    def __init__(self, d=32, h=4, M=16):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)
        self.register_buffer('k', torch.zeros(2, h, M, d // h))
        self.register_buffer('v', torch.zeros(2, h, M, d // h))
        self.register_buffer('m', torch.tril(torch.ones(M, M, dtype=torch.bool)))

    def forward(self, x, pos):
        B, T, D = x.shape
        q, k, v = [t.view(B, T, self.h, -1).transpose(1, 2) for t in self.qkv(x).split(D, 2)]
        self.k.index_copy_(2, pos, k)
        self.v.index_copy_(2, pos, v)
        y = F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=self.m[None, None, pos])
        return self.o(y.transpose(1, 2).reshape(B, T, D))


def static_cache():
    return (StaticCache(), [randn(2, 3, 32), torch.tensor([4, 5, 6])])


class SwinBlock(nn.Module):

    def __init__(self, d=16, h=2, w=4, shift=2, H=8):
        super().__init__()
        self.h, self.w, self.sh = (h, w, shift)
        self.n = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.p = nn.Linear(d, d)
        self.table = nn.Parameter(randn((2 * w - 1) ** 2, h) * 0.02)
        c = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing='ij')).flatten(1)
        r = (c[:, :, None] - c[:, None]).permute(1, 2, 0)
        r += w - 1
        r[..., 0] *= 2 * w - 1
        self.register_buffer('idx', r.sum(-1))
        m = torch.zeros(1, H, H, 1)
        n = 0
        for a in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
            for b in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                m[:, a, b] = n
                n += 1
        mw = self.win(m).squeeze(-1)
        mm = mw[:, None] - mw[:, :, None]
        self.register_buffer('mask', mm.masked_fill(mm != 0, -100.0).masked_fill(mm == 0, 0.0))

    def win(self, x):
        B, H, W, C = x.shape
        w = self.w
        return x.view(B, H // w, w, W // w, w, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, C)

    def forward(self, x):
        B, H, W, C = x.shape
        y = torch.roll(self.n(x), (-self.sh, -self.sh), (1, 2))
        y = self.win(y)
        N = y.shape[0]
        q, k, v = self.qkv(y).reshape(N, -1, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4).unbind(0)
        a = q * (C // self.h) ** (-0.5) @ k.transpose(-2, -1)
        a = a + self.table[self.idx.view(-1)].view(self.w ** 2, self.w ** 2, -1).permute(2, 0, 1).contiguous().unsqueeze(0)
        nw = self.mask.shape[0]
        a = a.view(B, nw, self.h, self.w ** 2, self.w ** 2) + self.mask[None, :, None]
        a = a.view(-1, self.h, self.w ** 2, self.w ** 2).softmax(-1)
        y = (a @ v).transpose(1, 2).reshape(N, -1, C)
        y = self.p(y)
        y = y.view(B, H // self.w, W // self.w, self.w, self.w, C).permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, C)
        return x + torch.roll(y, (self.sh, self.sh), (1, 2))


def swin():
    return (SwinBlock(), [randn(2, 8, 8, 16)])


class PointNet(nn.Module):

    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 1), nn.BatchNorm1d(32))
        self.t = nn.Linear(32, 9)
        self.f = nn.Linear(32, 4)

    def forward(self, x):
        t = self.t(self.c(x).max(2)[0]).view(-1, 3, 3) + torch.eye(3).unsqueeze(0)
        x = torch.bmm(x.transpose(2, 1), t).transpose(2, 1)
        return (F.log_softmax(self.f(torch.max(self.c(x), 2, keepdim=True)[0].view(-1, 32)), dim=1), t)


def pointnet():
    return (PointNet(), [randn(2, 3, 24)])


class GCN(nn.Module):

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16, bias=False)
        self.b = nn.Linear(16, 3)

    def prop(self, x, e):
        r, c = e
        n = x.shape[0]
        deg = torch.zeros(n).index_add_(0, c, torch.ones(c.shape[0]))
        d = deg.clamp(min=1).pow(-0.5)
        w = d[r] * d[c]
        return torch.zeros_like(x).index_add(0, c, x[r] * w[:, None])

    def forward(self, x, e):
        x = F.relu(self.prop(self.a(x), e))
        return F.log_softmax(self.b(self.prop(x, e)), 1)


def gcn():
    return (GCN(), [randn(10, 8), torch.randint(0, 10, (2, 30))])


class GAT(nn.Module):

    def __init__(self):
        super().__init__()
        self.w = nn.Linear(8, 16, bias=False)
        self.a = nn.Parameter(randn(32))

    def forward(self, x, e):
        r, c = (e[0], e[1])
        h = self.w(x)
        sc = F.leaky_relu(torch.cat([h[r], h[c]], 1) @ self.a, 0.2)
        m = torch.full((x.shape[0],), -1000000000.0).scatter_reduce(0, c, sc, 'amax')
        p = torch.exp(sc - m[c])
        z = torch.zeros(x.shape[0]).scatter_add(0, c, p)
        return torch.zeros_like(h).scatter_add_(0, c[:, None].expand(-1, 16), h[r] * (p / z[c])[:, None])


def gat():
    return (GAT(), [randn(10, 8), torch.randint(0, 10, (2, 30))])


class VAE(nn.Module):

    def __init__(self):
        super().__init__()
        self.e = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.LeakyReLU(0.01), nn.Flatten())
        self.mu = nn.Linear(8 * 64, 4)
        self.lv = nn.Linear(8 * 64, 4)
        self.d = nn.Linear(4, 8 * 64)
        self.u = nn.ConvTranspose2d(8, 1, 3, 2, 1, 1)

    def forward(self, x, eps):
        h = self.e(x)
        mu, lv = (self.mu(h), self.lv(h))
        z = mu + eps * torch.exp(0.5 * lv)
        y = torch.sigmoid(self.u(F.relu(self.d(z)).view(-1, 8, 8, 8)))
        kl = -0.5 * torch.sum(1 + lv - mu.pow(2) - lv.exp())
        return (y, F.binary_cross_entropy(y, torch.sigmoid(x), reduction='sum') + kl, mu)


def vae():
    return (VAE(), [randn(2, 1, 16, 16), randn(2, 4)])


class DiffBlock(nn.Module):

    def __init__(self, c=16):
        super().__init__()
        self.n1 = nn.GroupNorm(4, c)
        self.c1 = nn.Conv2d(c, c, 3, padding=1)
        self.t = nn.Linear(32, 2 * c)
        self.n2 = nn.GroupNorm(4, c)
        self.c2 = nn.Conv2d(c, c, 3, padding=1)
        self.na = nn.GroupNorm(4, c)
        self.qkv = nn.Conv1d(c, 3 * c, 1)
        self.o = nn.Conv1d(c, c, 1)
        self.up = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x, t):
        half = 16
        f = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
        e = t[:, None].float() * f[None]
        e = torch.cat([e.cos(), e.sin()], -1)
        sc, sh = self.t(F.silu(e))[:, :, None, None].chunk(2, 1)
        h = self.c1(F.silu(self.n1(x)))
        h = self.n2(h) * (1 + sc) + sh
        x = x + self.c2(F.silu(h))
        B, C, H, W = x.shape
        q, k, v = self.qkv(self.na(x.view(B, C, -1))).chunk(3, 1)
        w = torch.softmax(torch.einsum('bct,bcs->bts', q * C ** (-0.25), k * C ** (-0.25)).float(), -1)
        a = torch.einsum('bts,bcs->bct', w, v)
        x = x + self.o(a).view(B, C, H, W)
        return self.up(F.interpolate(x, scale_factor=2, mode='nearest'))


def diffusion_block():
    return (DiffBlock(), [randn(2, 16, 8, 8), torch.randint(0, 1000, (2,))])


class MHA(nn.Module):

    def __init__(self):
        super().__init__()
        self.m = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, kp):
        return self.m(x, x, x, key_padding_mask=kp)


def mha():
    return (MHA(), [randn(2, 6, 16), torch.tensor([[False] * 6, [False] * 4 + [True] * 2])])


class MHANoW(nn.Module):

    def __init__(self):
        super().__init__()
        self.m = nn.MultiheadAttention(16, 4)

    def forward(self, q, k, am):
        return self.m(q, k, k, attn_mask=am, need_weights=False)[0]


def mha_cross():
    return (MHANoW(), [randn(5, 2, 16), randn(7, 2, 16), randn(5, 7)])


def encoder_fast():
    return (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(), [randn(2, 6, 16)])


class DecL(nn.Module):

    def __init__(self):
        super().__init__()
        self.d = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 32, batch_first=True), 1)
        self.register_buffer('m', nn.Transformer.generate_square_subsequent_mask(5))

    def forward(self, t, m):
        return self.d(t, m, tgt_mask=self.m, tgt_is_causal=True)


def decoder():
    return (DecL(), [randn(2, 5, 16), randn(2, 7, 16)])


class Enc2(nn.Module):

    def __init__(self):
        super().__init__()
        self.e = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)

    def forward(self, x, pad):
        return self.e(x, src_key_padding_mask=pad)


def encoder_padded():
    torch.backends.mha.set_fastpath_enabled(False)  # eager's other way gives zeros for the padding
    return (Enc2(), [randn(2, 6, 16), torch.tensor([[False] * 6, [False] * 4 + [True] * 2])])


class Tied(nn.Module):

    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(20, 16)
        self.l = nn.Linear(16, 16)
        self.r = self.l
        self.out = nn.Linear(16, 20, bias=False)
        self.out.weight = self.e.weight

    def forward(self, x):
        return self.out(self.r(F.relu(self.l(self.e(x)))))


def tied():
    return (Tied(), [torch.randint(0, 20, (2, 5))])


class Mlp3(nn.Module):

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)

    def forward(self, x, *, scale=1.0, flag=True, bias=None):
        y = self.a(x) * scale
        if flag:
            y = F.relu(y)
        return y if bias is None else y + bias


def keywords():
    return (Mlp3(), {'x': randn(4, 8), 'scale': 2.5, 'bias': randn(8)})


class Buf(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('count', torch.tensor(0))
        self.register_buffer('mean', torch.zeros(8))
        self.register_buffer('ring', torch.zeros(4, 8))
        self.l = nn.Linear(8, 8)

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        self.ring[1:] = self.ring[:-1].clone()
        self.ring[0] = x[0]
        return self.l(x - self.mean) / self.count + self.ring.sum()


def buffers():
    return (Buf(), [randn(5, 8)])


class Scalars(nn.Module):

    def __init__(self):
        super().__init__()
        self.t = nn.Parameter(torch.tensor(0.5))
        self.register_buffer('b', torch.tensor(2.0))

    def forward(self, x, k, n):
        y = x * self.t.exp() + k
        z = (y * self.b).sum()
        return (y, z, z.sqrt().abs() / n, torch.tensor(3.0))


def scalars():
    return (Scalars(), [randn(3, 4).abs(), torch.tensor(1.5), torch.tensor(4)])


class NonContig(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 8)
        self.c = nn.Conv2d(3, 4, 3)

    def forward(self, x, y):
        return (self.l(x), self.c(y))


def noncontiguous():
    return (NonContig(), [randn(6, 5).t(), randn(2, 3, 8, 8).to(memory_format=torch.channels_last)])


class Zero(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 8)

    def forward(self, x):
        return (F.relu(self.l(x)), x.sum())


def zero_size():
    return (Zero(), [randn(0, 6)])


class DataDep(nn.Module):

    def forward(self, x):
        return x[x > 0] * 2


def data_dependent():
    return (DataDep(), [randn(10)])


class Branch(nn.Module):

    def forward(self, x):
        return x * 2 if x.sum() > 0 else x - 1


def branch():
    return (Branch(), [randn(10)])


class Rand(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, x):
        return self.l(x) + torch.randn_like(x)


def random_op():
    return (Rand(), [randn(2, 8)])


class FDrop(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, x):
        return F.dropout(self.l(x), 0.5, training=True)


def dropout_on():
    return (FDrop(), [randn(2, 8)])


class Cplx(nn.Module):

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(8, 9, 2))
        self.l = nn.Linear(16, 16)

    def forward(self, x):
        f = torch.fft.rfft(x, dim=-1) * torch.view_as_complex(self.w)
        return self.l(torch.fft.irfft(f, n=16, dim=-1)) + x.abs().sum()


def complex_fft():
    return (Cplx(), [randn(2, 8, 16)])


class CplxRope(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(16, 16)
        self.register_buffer('f', torch.polar(torch.ones(6, 4), randn(6, 4)), persistent=False)

    def forward(self, x):
        q = self.l(x).view(2, 6, 2, 8)
        z = torch.view_as_complex(q.float().reshape(2, 6, 2, 4, 2)) * self.f[None, :, None]
        return torch.view_as_real(z).flatten(3).type_as(x)


def complex_rope():
    return (CplxRope(), [randn(2, 6, 16)])


class Sdpa(nn.Module):

    def __init__(self, **k):
        super().__init__()
        self.k = k

    def forward(self, q, k, v, m=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=m, **self.k)


def sdpa_bool():
    return (Sdpa(), [randn(2, 4, 6, 8), randn(2, 4, 7, 8), randn(2, 4, 7, 8), torch.rand(2, 1, 6, 7) > 0.3])


def sdpa_3d():
    return (Sdpa(is_causal=True, dropout_p=0.0), [randn(4, 6, 8), randn(4, 6, 8), randn(4, 6, 8)])


def sdpa_gqa():
    return (Sdpa(enable_gqa=True, scale=0.2), [randn(2, 4, 6, 8), randn(2, 2, 7, 8), randn(2, 2, 7, 8)])


def fn(f, *inputs, **params):

    class M(nn.Module):

        def __init__(self):
            super().__init__()
            for n, p in params.items():
                setattr(self, n, nn.Parameter(p))

        def forward(self, *a):
            return f(*a, *[getattr(self, n) for n in params])
    return (M(), list(inputs))


def masking():
    return fn(lambda x, m: (x.masked_fill(m == 0, float('-inf')).softmax(-1), torch.where(m > 0, x, 0.0), x.masked_fill(m.bool(),
        -10000.0).log_softmax(1)), randn(3, 7), torch.tensor([[1] * 7, [1] * 5 + [0] * 2, [0] + [1] * 6]))


def scans():
    return fn(lambda x: (x.cumsum(-1), x.cumprod(1), x.logcumsumexp(0), x.cummax(1).values, x.cummax(1).indices, x.flip(1).cumsum(1).flip(1)), randn(3, 7))


def ordering():
    return fn(lambda x: (x.topk(3).values, x.topk(3, dim=0)[1], x.sort(1)[0], x.argsort(1, descending=True), torch.median(x, 1).values, x.kthvalue(2,
        1).values, x.median(), x.quantile(0.3, 1)), randn(5, 9))


def gather_scatter():
    return fn(lambda x, i: (x.gather(1, i), torch.zeros_like(x).scatter(1, i, x[:, :3]), torch.zeros_like(x).scatter_(1, i, 1.0), x.scatter_add(1, i,
        x[:, :3]), torch.zeros(4, 9).scatter_reduce(1, i, x[:, :3], 'mean', include_self=False), x.index_select(1, i[0]), x[:, i[0]], x[i[:, 0], i[:, 1]],
        x.take(i)), randn(4, 9), torch.tensor([[0, 3, 2], [1, 2, 3], [3, 0, 1], [2, 1, 0]]))


def resizing():
    return fn(lambda x: (F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False), F.interpolate(x, size=(7, 9), mode='bilinear',
        align_corners=True), F.interpolate(x, scale_factor=0.5), F.interpolate(x, size=(6, 5), mode='nearest'), F.interpolate(x, scale_factor=2,
        mode='bicubic'), F.interpolate(x, size=(3, 3), mode='area'), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2)), randn(2, 4,
        8, 8))


def padding():
    return fn(lambda x: (F.pad(x, (1, 2, 1, 0)), F.pad(x, (1, 2, 2, 1), mode='reflect'), F.pad(x, (1, 2, 2, 1), mode='replicate'), F.pad(x, (1, 2, 2,
        1), mode='circular'), F.pad(x, (-1, 2)), F.pad(x, (0, 0, 0, 0, 1, 1), value=3.0)), randn(2, 4, 6, 6))


def pools():
    return fn(lambda x: (F.adaptive_avg_pool2d(x, (3, 2)), F.adaptive_max_pool2d(x, 3), F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3,
        2, 1, count_include_pad=False), F.max_pool2d(x, 2, return_indices=True), F.lp_pool2d(x, 2, 2), F.adaptive_avg_pool1d(x[0], 3), F.avg_pool2d(x, 2,
        divisor_override=3)), randn(2, 4, 7, 7))


def flips():
    return fn(lambda x: (x.flip(0, 2), x.roll(2), x.roll((1, -2), (0, 1)), x.rot90(1, (1, 2)), torch.fliplr(x), x.movedim(0, -1), x.diagonal(0, 1, 2),
        torch.diag_embed(x[0]), x.tril(), x.triu(1), x.unfold(2, 2, 1), x.tile(2, 1), x.repeat_interleave(2, 1), x.swapaxes(0, 1)), randn(3, 4, 4))


def norms():
    return fn(lambda x, y: (x.norm(), x.norm(dim=1), x.norm(p=1, dim=1, keepdim=True), F.normalize(x, dim=-1), F.cosine_similarity(x, y, dim=-1),
        torch.cdist(x, y), F.pairwise_distance(x, y), x.logsumexp(1), torch.linalg.norm(x, dim=0), x.norm(p=float('inf'), dim=1), torch.dist(x, y),
        F.local_response_norm(x[None, :, :, None], 3), x.std(), x.var(1, unbiased=False), torch.var_mean(x, 1), torch.std_mean(x, 0)), randn(5, 8),
        randn(5, 8))


def lookups():
    return fn(lambda x, i, w: (torch.bucketize(x, torch.linspace(-2, 2, 7)), F.one_hot(i, 6), F.embedding_bag(i, w), F.embedding_bag(i, w,
        mode='sum'), F.embedding(i, w, padding_idx=1), torch.searchsorted(torch.linspace(-2, 2, 7), x, right=True)), randn(4, 3), torch.randint(0, 6, (4,
        3)), w=randn(6, 5))


def losses():
    return fn(lambda x, t, y: (F.cross_entropy(x, t), F.cross_entropy(x, t, label_smoothing=0.1, reduction='none'), F.cross_entropy(x, t,
        ignore_index=2), F.nll_loss(F.log_softmax(x, 1), t), F.mse_loss(x, y), F.l1_loss(x, y, reduction='sum'), F.smooth_l1_loss(x, y), F.huber_loss(x,
        y, delta=0.5), F.binary_cross_entropy_with_logits(x, y.sigmoid()), F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction='batchmean'),
        F.hinge_embedding_loss(x, torch.sign(y)), F.cosine_embedding_loss(x, y, torch.ones(6)), F.margin_ranking_loss(x, y, torch.sign(y)),
        F.triplet_margin_loss(x, y, x.flip(0)), F.soft_margin_loss(x, torch.sign(y)), F.poisson_nll_loss(x, y.abs())), randn(6, 5), torch.tensor([0, 1, 2,
        3, 4, 2]), randn(6, 5))


def activations():
    return fn(lambda x: (F.prelu(x, torch.full((6,), 0.2)), F.softsign(x), F.tanhshrink(x), F.threshold(x, 0.1, -1.0), F.logsigmoid(x), F.rrelu(x,
        training=False), F.hardtanh(x, -2, 0.5), F.celu(x), F.softmin(x, 1), F.glu(x), F.elu(x), F.selu(x), F.mish(x), F.gelu(x, approximate='tanh'),
        F.hardsigmoid(x), F.relu6(x)), randn(4, 6))


def mathy():
    return fn(lambda x, y: (torch.special.erfc(x), torch.erfinv(x.tanh()), torch.lgamma(y), torch.digamma(y), torch.sinc(x), torch.hypot(x, y),
        torch.copysign(x, -y), torch.frac(x), torch.fmod(x, y), torch.remainder(x, y), torch.float_power(y, 2), torch.logaddexp(x, y), torch.xlogy(x, y),
        torch.nan_to_num(x / 0), torch.heaviside(x, y), torch.atan2(x, y), torch.asinh(x), torch.acosh(y + 1), torch.atanh(x.tanh() * 0.9),
        torch.signbit(x), torch.addcmul(x, x, y, value=0.5), torch.lerp(x, y, 0.3), torch.clamp(x, y, y + 1), torch.clip(x, -1), torch.isfinite(x),
        torch.isclose(x, y), torch.special.i0(x), torch.deg2rad(x), torch.trunc(x), torch.round(x, decimals=2), torch.exp2(x), torch.pow(2.0, x),
        torch.square(x), torch.rsqrt(y), torch.special.expit(x), torch.special.logit(y / (y + 1)), torch.logical_xor(x > 0, y > 1),
        torch.gcd(torch.tensor(12), torch.tensor(18))), randn(4, 5), randn(4, 5).abs() + 0.1)


def ints():
    return fn(lambda i, j, b: (i // 3, i % 3, i // j, i & j, i | 3, i ^ j, i << 1, i >> 1, ~b, b & (i > 0), i.float().mean(), i.sum(), i.cumsum(1),
        i.max(1).values, (i > 2).sum(), b.any(1), b.float().mean(), i.bool(), i.to(torch.int8), i.clamp(0, 3), -i, i.abs(), i ** 2, i / j, torch.div(i, j,
        rounding_mode='trunc'), b.sum(1), b.all(), i.prod(1), i.argmax(1), torch.bitwise_not(i), i.unique_consecutive().shape[0] * i if False else i,
        (i.unsqueeze(-1) == torch.arange(4)).int(), torch.maximum(i, j), i.to(torch.uint8)), torch.randint(-5, 9, (3, 4)), torch.randint(1, 5, (3, 4)),
        torch.rand(3, 4) > 0.5)


def creation():
    return fn(lambda x: (x + torch.arange(5) * 0.5, torch.linspace(0, 1, 5) + x, torch.eye(5) @ x.t(), x * torch.ones(3, 1), x.new_full((2, 2), 3.0) +
        x[0, 0], torch.zeros_like(x, dtype=torch.float64) + x, torch.tensor([1.0, 2, 3, 4, 5]) * x, torch.tril_indices(3, 3)[0] + x.long()[0, 0],
        torch.logspace(0, 1, 5) * x, torch.meshgrid(x[0], x[1], indexing='ij')[0], torch.cartesian_prod(x[0], x[1]), torch.block_diag(x, x),
        torch.empty(3, 5).fill_(2) + x, torch.full((5,), True)), randn(3, 5))


def einsums():
    return fn(lambda a, b, c: (torch.einsum('bij,bjk->bik', a, b), torch.einsum('bii->bi', a[:, :, :4]), torch.einsum('bij->b', a),
        torch.einsum('bij,bjk,bkl->bil', a, b, c), torch.einsum('...ij,...jk->...ik', a, b), torch.einsum('i,j->ij', a[0, 0], b[0, 0]),
        torch.tensordot(a[0], b[0], 1), torch.chain_matmul(a[0], b[0], c[0]) if False else a[0] @ b[0] @ c[0], torch.kron(a[0], b[0]), torch.baddbmm(a[:,
        :, :3], a, b), torch.trace(a[0]), torch.linalg.multi_dot([a[0], b[0], c[0]]), torch.inner(a[0], b[0].t()), torch.addmv(a[0, :, 0], a[0], b[0, :,
        0]), torch.addr(a[0], a[0, :, 0], a[0, 0])), randn(2, 4, 5), randn(2, 5, 3), randn(2, 3, 4))


def inplace():

    def f(x):
        y = x.clone()
        y[:, 0] = 1
        y[y > 1] = 0
        y[1:3, 2:] += 2
        y.relu_()
        z = torch.zeros(4, 6)
        z[:, ::2] = y[:, :3]
        z[:, 1::2] = y[:, 3:]
        y[:, :2].mul_(2)
        w = x.clone()
        w[torch.tensor([0, 2])] = 5.0
        w.index_put_((torch.tensor([1, 1]), torch.tensor([2, 2])), torch.tensor([1.0, 2.0]), accumulate=True)
        w.fill_diagonal_(7)
        w.masked_fill_(x > 1.5, 0)
        return (y, z, w)
    return fn(f, randn(4, 6))


def conv_odd():
    return fn(lambda x, w, w1, wt: (F.conv2d(x, w, padding='same', dilation=2), F.conv2d(x[0], w), F.conv1d(x[:, :, 0], w1, groups=2),
        F.conv_transpose2d(x, wt, stride=2, padding=1, output_padding=1, groups=2), F.unfold(x, 3, padding=1), F.fold(F.unfold(x, 2, stride=2), (6, 6), 2,
        stride=2), F.conv2d(F.pad(x, (1, 1, 1, 1), mode='reflect'), w)), randn(2, 4, 6, 6), w=randn(6, 4, 3, 3), w1=randn(4, 2, 3), wt=randn(4, 3, 3, 3))


def norm_layers():
    return (nn.Sequential(nn.InstanceNorm2d(4, affine=True), nn.LocalResponseNorm(2), nn.GroupNorm(2, 4), nn.LayerNorm([6, 6], bias=False),
        nn.BatchNorm2d(4, affine=False), nn.InstanceNorm2d(4, track_running_stats=True), nn.Flatten(), nn.BatchNorm1d(144), nn.RMSNorm(144),
        nn.utils.parametrizations.weight_norm(nn.Linear(144, 8)), nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))).eval(), [randn(2, 4, 6, 6)])


def grid():
    return fn(lambda x, t: F.grid_sample(x, F.affine_grid(t, (2, 3, 5, 5), align_corners=False), align_corners=False), randn(2, 3, 6, 6), randn(2, 2, 3))


def linalg():
    return fn(lambda a: (torch.linalg.inv(a @ a.mT + torch.eye(4)), torch.linalg.det(a), torch.linalg.cholesky(a @ a.mT + torch.eye(4)),
        torch.linalg.solve(a @ a.mT + torch.eye(4), a), torch.matrix_exp(a)), randn(2, 4, 4))


class Half(nn.Module):

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 32)
        self.n = nn.LayerNorm(32)
        self.b = nn.Linear(32, 16)

    def forward(self, x):
        return self.b(F.gelu(self.n(self.a(x))).float().to(torch.bfloat16))


def bf16():
    return (Half().bfloat16(), [randn(4, 16).bfloat16()])


def fp16():
    return (nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)).half(), [randn(4, 16).half()])


def f64():
    return (nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 16)).double(), [randn(4, 16).double()])


class Nested(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, batch):
        y = self.l(batch['x'])
        return {'a': y, 'b': [y.sum(), {'c': batch['y'][0] * 2}], 'n': None, 'k': 3, 'same': batch['x']}


def dicts():
    return (Nested(), [{'x': randn(2, 8), 'y': [randn(3), randn(2)]}])


class Quant(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('w', torch.randint(-127, 127, (16, 32), dtype=torch.int8))
        self.register_buffer('s', torch.rand(16) * 0.01)

    def forward(self, x):
        return F.linear(x, self.w.to(x.dtype) * self.s[:, None])


def int8_weights():
    return (Quant(), [randn(4, 32)])


class Uint8(nn.Module):

    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 8, 3)
        self.register_buffer('m', torch.tensor([0.5, 0.4, 0.3]).view(3, 1, 1))

    def forward(self, img):
        return self.c(img.permute(0, 3, 1, 2).float() / 255 - self.m)


def uint8_image():
    return (Uint8(), [torch.randint(0, 256, (2, 8, 8, 3), dtype=torch.uint8)])


class Same(nn.Module):

    def forward(self, x):
        return x


def identity():
    return (Same(), [randn(3)])


class Views(nn.Module):

    def forward(self, x):
        return (x.t(), x[1:], x.view(-1), x.unsqueeze(0))


def views_only():
    return (Views(), [randn(4, 5)])


class Chk(nn.Module):

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint
        return self.b(checkpoint(lambda t: F.gelu(self.a(t)), x, use_reentrant=False))


def checkpointed():
    return (Chk(), [randn(4, 8)])


class Autocast(nn.Module):

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = nn.Linear(16, 4)

    def forward(self, x):
        with torch.autocast('cpu', dtype=torch.bfloat16):
            y = F.relu(self.a(x))
        return self.b(y.float())


def autocast_inside():
    return (Autocast(), [randn(4, 16)])


class Nograd(nn.Module):

    def __init__(self):
        super().__init__()
        self.t = nn.Linear(8, 8)
        self.o = nn.Linear(8, 8)

    def forward(self, x):
        with torch.no_grad():
            t = self.t(x)
        return (self.o(x) - t.detach()).pow(2).mean()


def nograd_inside():
    return (Nograd(), [randn(4, 8)])


class Deq(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, x):
        z = torch.zeros_like(x)
        for _ in range(12):
            z = torch.tanh(self.l(z) + x)
        return z


def fixed_point():
    return (Deq(), [randn(3, 8)])


class Sub(nn.Module):

    def __init__(self):
        super().__init__()
        self.n = nn.Linear(4, 4)
        self.register_buffer('table', torch.arange(12.0).view(3, 4))

    def forward(self, i):
        return self.n(self.table[i.item()])


def item_index():
    return (Sub(), [torch.tensor(1)])


class Hist(nn.Module):

    def forward(self, x):
        return (torch.histc(x, 5, -2, 2), torch.bincount(x.long().abs().flatten(), minlength=6), x.nonzero())


def histogram():
    return (Hist(), [randn(4, 5)])
