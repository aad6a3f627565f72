"""Programs of the kinds that users bring, each a function that returns a module and its inputs: those of seventy-seven, written before hone
saw one of them, that showed something (brought.py and brought_later.py have others)."""
import math
from collections import OrderedDict, namedtuple
from typing import NamedTuple, Optional

import torch, torch.nn as nn, torch.nn.functional as F


class AlibiGpt(nn.Module):
    def __init__(self, vocab, dim, heads):
        super().__init__()
        self.h = heads
        self.wte = nn.Embedding(vocab, dim)
        self.ln1, self.ln2, self.lnf = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.o = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        start = 2 ** (-2 ** -(math.log2(heads) - 3))
        self.slopes = torch.tensor([start * start ** i for i in range(heads)]).view(heads, 1, 1)
    def forward(self, ids, targets):
        b, n = ids.shape
        x = self.wte(ids)
        dist = torch.arange(n)[None, :] - torch.arange(n)[:, None]
        alibi = self.slopes * dist
        alibi = alibi.masked_fill(dist > 0, float("-inf"))
        q, k, v = self.qkv(self.ln1(x)).view(b, n, 3, self.h, -1).permute(2, 0, 3, 1, 4)
        att = torch.baddbmm(alibi.repeat(b, 1, 1), q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2), beta=1.0, alpha=1 / math.sqrt(q.shape[-1]))
        y = torch.bmm(att.softmax(-1), v.flatten(0, 1)).view(b, self.h, n, -1)
        x = x + self.o(y.permute(0, 2, 1, 3).reshape(b, n, -1))
        x = x + self.down(F.relu(self.up(self.ln2(x))).square())
        logits = self.lnf(x) @ self.wte.weight.T
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), targets[:, 1:].reshape(-1))
        return loss, logits[:, -1]


def alibi_gpt():
    return AlibiGpt(50, 32, 4), [torch.randint(0, 50, (2, 10)), torch.randint(0, 50, (2, 10))]


class BitsUnpacked(nn.Module):
    """Words of 2, 4 and 1 bits unpacked by shifts; NF4 by a table; BitNet's ternary weights with i8 activations."""
    def __init__(self, i, o):
        super().__init__()
        self.register_buffer("p4", torch.randint(0, 256, (o, i // 2), dtype=torch.uint8))
        self.register_buffer("p2", torch.randint(0, 256, (o, i // 4), dtype=torch.uint8))
        self.register_buffer("p32", torch.randint(-2 ** 31, 2 ** 31 - 1, (i // 8, o), dtype=torch.int32))
        self.register_buffer("absmax", torch.rand(o, i // 8) + 0.1)
        self.register_buffer("nf4", torch.linspace(-1, 1, 16))
        self.scale = nn.Parameter(torch.rand(o) * 0.1)
    def forward(self, x, bits):
        lo, hi = self.p4 & 0x0F, self.p4 >> 4
        w4 = torch.stack((hi, lo), -1).view(self.p4.shape[0], -1)
        w4 = (self.nf4[w4.long()].view(w4.shape[0], -1, 8) * self.absmax.unsqueeze(-1)).flatten(1)
        shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8)
        w2 = ((self.p2.unsqueeze(-1) >> shifts) & 3).flatten(1).to(torch.int8) - 1
        s = 127 / x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
        q = (x * s).round().clamp(-128, 127)
        y2 = q @ w2.float().t() * self.scale / s
        g = torch.bitwise_right_shift(self.p32.unsqueeze(1), torch.arange(0, 32, 4, dtype=torch.int32)[None, :, None]).to(torch.int8)
        g = torch.bitwise_and(g, 15).reshape(-1, self.p32.shape[1])
        y32 = x @ ((g - 8).to(x.dtype) * 0.05)
        plane = (bits.unsqueeze(-1) >> torch.arange(8)) & 1
        pop = plane.sum((-1, -2))
        packed = (plane * (1 << torch.arange(8))).sum(-1)
        return F.linear(x, w4) + y2 + y32, pop, packed == bits


def bits_unpacked():
    return BitsUnpacked(16, 12), [torch.randn(4, 16), torch.randint(0, 256, (4, 5))]


class ChamferFscore(nn.Module):
    def __init__(self, tau):
        super().__init__()
        self.tau = tau
    def forward(self, a, b, na, nb):
        d = a.pow(2).sum(-1, keepdim=True) - 2 * torch.bmm(a, b.transpose(1, 2)) + b.pow(2).sum(-1).unsqueeze(1)
        d = d.clamp_min(0)
        da, ia = d.min(2)
        db, ib = d.min(1)
        near = torch.gather(nb, 1, ia.unsqueeze(-1).expand(-1, -1, 3))
        consistency = 1 - torch.abs(F.cosine_similarity(na, near, dim=-1))
        prec, rec = (da.sqrt() < self.tau).float().mean(1), (db.sqrt() < self.tau).float().mean(1)
        f = torch.where(prec + rec > 0, 2 * prec * rec / (prec + rec), torch.zeros_like(prec))
        hausdorff = torch.maximum(da.amax(1), db.amax(1)).sqrt()
        return {"chamfer": da.mean(1) + db.mean(1), "normal": consistency.mean(), "fscore": f, "hausdorff": hausdorff}


def chamfer_fscore():
    return ChamferFscore(0.5), [torch.randn(2, 30, 3), torch.randn(2, 25, 3), torch.randn(2, 30, 3), torch.randn(2, 25, 3)]


Stats = namedtuple("Stats", ["mean", "std"])


class Output(NamedTuple):
    logits: torch.Tensor
    hidden: Optional[tuple] = None
    stats: Optional[Stats] = None
    loss: Optional[torch.Tensor] = None


class DataclassOutput(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.layers = nn.ModuleDict({"first": nn.Linear(dim, dim), "second": nn.Linear(dim, dim)})
        self.head = nn.Linear(dim, classes)
    def forward(self, batch, scale=2.0, *, labels=None):
        x = batch["x"]
        hidden = [x]
        for name, layer in self.layers.items():
            x = x + torch.tanh(layer(x)) * scale
            hidden.append(x)
        logits = self.head(x)
        loss = None
        if "y" in batch:
            loss = F.nll_loss(F.log_softmax(logits, -1), batch["y"], weight=torch.tensor([1.0, 2.0, 0.5]))
        extra = OrderedDict(a=x[:, 0], b=(x.amax(), x[1:3]))
        return Output(logits, tuple(hidden), Stats(*torch.std_mean(x, dim=0)[::-1]), loss), extra, 3, None, "done"


def dataclass_output():
    return DataclassOutput(8, 3), [{"x": torch.randn(5, 8), "y": torch.tensor([0, 1, 2, 1, 0])}]


class EinsumMany(nn.Module):
    """AlphaFold's outer product mean and triangle multiplication, a trilinear product, tensor trains."""
    def __init__(self, m, z, c):
        super().__init__()
        self.a, self.b = nn.Linear(m, c), nn.Linear(m, c)
        self.o = nn.Linear(c * c, z)
        self.ln = nn.LayerNorm(z)
        self.left, self.right, self.lg, self.rg, self.g, self.out = (nn.Linear(z, z) for _ in range(6))
        self.core1, self.core2, self.core3 = (nn.Parameter(torch.randn(*s) * 0.3) for s in ((1, 4, 3), (3, 4, 3), (3, 2, 1)))
        self.tri = nn.Parameter(torch.randn(3, z, z, z) * 0.1)
    def forward(self, msa, pair, mask):
        a, b = self.a(msa) * mask[..., None], self.b(msa) * mask[..., None]
        outer = torch.einsum("bsic,bsjd->bijcd", a, b)
        norm = torch.einsum("bsi,bsj->bij", mask, mask)[..., None] + 1e-3
        pair = pair + self.o(outer.flatten(-2)) / norm
        p = self.ln(pair)
        l, r = torch.sigmoid(self.lg(p)) * self.left(p), torch.sigmoid(self.rg(p)) * self.right(p)
        t = torch.einsum("bikc,bjkc->bijc", l, r)
        pair = pair + torch.sigmoid(self.g(p)) * self.out(t)
        w = torch.einsum("aib,bjc,ckd->ijk", self.core1, self.core2, self.core3)
        q = torch.einsum("bijx,hxyz,bijy,bijz->bhij", pair, self.tri, p, t)
        return pair, torch.einsum("bijc,cdk->bdk", pair[..., :4], w), q.softmax(-1), torch.einsum("biic->bc", pair)


def einsum_many():
    return EinsumMany(8, 8, 4), [torch.randn(2, 5, 6, 8), torch.randn(2, 6, 6, 8), (torch.rand(2, 5, 6) > 0.2).float()]


class EkfParticles(nn.Module):
    """A particle filter's step with systematic resampling, and an extended Kalman update with a 2x2 inverse by hand."""
    def __init__(self, state, obs):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(state, 16), nn.Tanh(), nn.Linear(16, state))
        self.H = nn.Parameter(torch.randn(obs, state) * 0.5)
        self.logq, self.logr = nn.Parameter(torch.zeros(state)), nn.Parameter(torch.zeros(obs))
    def forward(self, particles, logw, noise, z, u, mean, P):
        p = particles + 0.1 * self.f(particles) + noise * torch.exp(0.5 * self.logq)
        e = z[:, None] - p @ self.H.mT
        ll = -0.5 * (e.square() / self.logr.exp() + self.logr + math.log(2 * math.pi)).sum(-1)
        logw = F.log_softmax(logw + ll, dim=-1)
        ess = torch.exp(-torch.logsumexp(2 * logw, -1))
        n = p.shape[1]
        grid = (torch.arange(n) + u[:, None]) / n
        cum = logw.exp().cumsum(-1)
        idx = torch.searchsorted(cum, grid).clamp(max=n - 1)
        again = torch.take_along_dim(p, idx.unsqueeze(-1), dim=1)
        p = torch.where((ess < n / 2)[:, None, None], again, p)
        m = mean + 0.1 * self.f(mean)
        P = P + torch.diag(self.logq.exp())
        S = self.H @ P @ self.H.mT + torch.diag_embed(self.logr.exp())
        a, b, c, d = S[..., 0, 0], S[..., 0, 1], S[..., 1, 0], S[..., 1, 1]
        det = a * d - b * c
        Si = torch.stack((torch.stack((d, -b), -1), torch.stack((-c, a), -1)), -2) / det[..., None, None]
        K = P @ self.H.mT @ Si
        m = m + torch.einsum("bso,bo->bs", K, z - m @ self.H.T)
        I = torch.eye(P.shape[-1])
        A = I - K @ self.H
        P = A @ P @ A.mT + K @ torch.diag(self.logr.exp()) @ K.mT
        return p, logw, ess, m, 0.5 * (P + P.transpose(-1, -2))


def ekf_particles():
    return EkfParticles(4, 2), [torch.randn(3, 20, 4), torch.full((3, 20), -math.log(20)), torch.randn(3, 20, 4), torch.randn(3, 2), torch.rand(3), torch.randn(3, 4), torch.eye(4).repeat(3, 1, 1)]


class EmaBuffers(nn.Module):
    """Statistics kept in buffers: a running mean, a counter, a queue (MoCo), a teacher's weights by lerp."""
    def __init__(self, dim, size):
        super().__init__()
        self.student = nn.Linear(dim, dim)
        self.register_buffer("teacher", torch.randn(dim, dim) * 0.1)
        self.register_buffer("centre", torch.zeros(1, dim))
        self.register_buffer("queue", F.normalize(torch.randn(dim, size), dim=0))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))
        self.register_buffer("steps", torch.tensor(0))
        self.size = size
    def forward(self, x):
        q = F.normalize(self.student(x), dim=1)
        with torch.no_grad():
            self.teacher.lerp_(self.student.weight, 0.01)
            k = F.normalize(F.linear(x, self.teacher), dim=1)
            self.centre.mul_(0.9).add_(k.mean(0, keepdim=True), alpha=0.1)
            self.steps += 1
        pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        neg = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        loss = F.cross_entropy(torch.cat([pos, neg], 1) / 0.07, torch.zeros(x.shape[0], dtype=torch.long))
        with torch.no_grad():
            cols = (self.ptr + torch.arange(x.shape[0])) % self.size
            self.queue[:, cols] = k.T
            self.ptr[0] = (self.ptr[0] + x.shape[0]) % self.size
        dino = -(F.softmax((k - self.centre) / 0.04, dim=-1) * F.log_softmax(q / 0.1, dim=-1)).sum(-1).mean()
        return loss + dino, self.steps.clone()


def ema_buffers():
    return EmaBuffers(12, 16), [torch.randn(4, 12)]


class FoldOverlap(nn.Module):
    """Patches taken apart by unfold, attended to, put together by fold with a count of overlaps (outlook attention)."""
    def __init__(self, dim, heads, k):
        super().__init__()
        self.h, self.k = heads, k
        self.v, self.a, self.p = nn.Linear(dim, dim, bias=False), nn.Linear(dim, k ** 4 * heads), nn.Linear(dim, dim)
    def forward(self, x):
        B, H, W, C = x.shape
        k, h = self.k, self.h
        v = self.v(x).permute(0, 3, 1, 2)
        v = F.unfold(v, k, padding=k // 2).reshape(B, h, C // h, k * k, H * W).permute(0, 1, 4, 3, 2)
        a = self.a(x).reshape(B, H * W, h, k * k, k * k).permute(0, 2, 1, 3, 4) * (C // h) ** -0.5
        y = (a.softmax(dim=-1) @ v).permute(0, 1, 4, 3, 2).reshape(B, C * k * k, H * W)
        y = F.fold(y, output_size=(H, W), kernel_size=k, padding=k // 2)
        ones = torch.ones(1, C, H, W)
        count = F.fold(F.unfold(ones, k, padding=k // 2), (H, W), k, padding=k // 2)
        return self.p((y / count).permute(0, 2, 3, 1)) + x


def fold_overlap():
    return FoldOverlap(12, 2, 3), [torch.randn(2, 6, 5, 12)]


class ForecastLosses(nn.Module):
    """Pinball loss of several quantiles, CRPS of an ensemble, Huber, MASE, log-cosh."""
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("q", torch.tensor(quantiles))
    def forward(self, pred, target, history):
        e = target.unsqueeze(-1) - pred
        pin = torch.max(self.q * e, (self.q - 1) * e)
        s = torch.sort(pred, dim=-1).values
        k = s.shape[-1]
        w = 2 * torch.arange(1, k + 1) - k - 1
        crps = e.abs().mean(-1) - (s * w).sum(-1) / k ** 2
        scale = history.diff(dim=1).abs().mean(1, keepdim=True).clamp(min=1e-3)
        point = pred.quantile(0.5, dim=-1)
        mase = ((point - target).abs() / scale).mean()
        crossing = F.relu(pred[..., :-1] - pred[..., 1:]).sum((-1, -2)).mean()
        cover = ((target >= pred[..., 0]) & (target <= pred[..., -1])).float().mean()
        logcosh = (e + F.softplus(-2.0 * e) - math.log(2.0)).mean(dim=(0, 1))
        return pin.mean(dim=(0, 1)), crps.mean(), mase, crossing, cover, logcosh, torch.nanmean(torch.where(target > 0, point, float("nan")))


def forecast_losses():
    return ForecastLosses([0.1, 0.25, 0.5, 0.75, 0.9]), [torch.randn(4, 6, 5), torch.randn(4, 6), torch.randn(4, 20)]


class Gatv2EdgeSoftmax(nn.Module):
    def __init__(self, fin, heads, fo):
        super().__init__()
        self.h, self.f = heads, fo
        self.l, self.r = nn.Linear(fin, heads * fo), nn.Linear(fin, heads * fo)
        self.att = nn.Parameter(torch.randn(1, heads, fo))
        self.bias = nn.Parameter(torch.zeros(heads * fo))
    def forward(self, x, edge_index):
        n = x.size(0)
        loops = torch.arange(n).unsqueeze(0).repeat(2, 1)
        src, dst = torch.cat([edge_index, loops], dim=1)
        xl, xr = self.l(x).view(n, self.h, self.f), self.r(x).view(n, self.h, self.f)
        e = (F.leaky_relu(xl[src] + xr[dst], 0.2) * self.att).sum(-1)
        idx = dst[:, None].expand(-1, self.h)
        top = torch.full((n, self.h), float("-inf")).scatter_reduce(0, idx, e, "amax")
        ex = (e - top[dst]).exp()
        den = torch.zeros(n, self.h).scatter_add(0, idx, ex) + 1e-16
        alpha = ex / den[dst]
        out = torch.zeros(n, self.h, self.f)
        out.index_add_(0, dst, xl[src] * alpha.unsqueeze(-1))
        return F.elu(out.flatten(1) + self.bias), alpha


def gatv2_edge_softmax():
    return Gatv2EdgeSoftmax(7, 3, 5), [torch.randn(10, 7), torch.randint(0, 10, (2, 24))]


class GlaChunk(nn.Module):
    """Gated linear attention, chunk by chunk, with decays in log space."""
    def __init__(self, dim, heads, chunk):
        super().__init__()
        self.h, self.c = heads, chunk
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.gk = nn.Sequential(nn.Linear(dim, 8, bias=False), nn.Linear(8, dim))
        self.g, self.o = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.ln = nn.LayerNorm(dim // heads, elementwise_affine=False)
    def forward(self, x):
        B, T, D = x.shape
        n, c, h, d = T // self.c, self.c, self.h, D // self.h
        q, k, v = (t.reshape(B, n, c, h, d).permute(0, 3, 1, 2, 4) for t in self.qkv(x).split(D, dim=-1))
        g = (F.logsigmoid(self.gk(x)) / 16).reshape(B, n, c, h, d).permute(0, 3, 1, 2, 4)
        b = g.cumsum(dim=-2)
        qg, kg = q * b.exp() * d ** -0.5, k * (-b).exp()
        intra = (qg @ kg.transpose(-1, -2)).tril() @ v
        last = b[..., -1:, :]
        kd = (k * (last - b).exp()).transpose(-1, -2) @ v
        S = q.new_zeros(B, h, d, d)
        inter = torch.empty_like(v)
        for i in range(n):
            inter[:, :, i] = qg[:, :, i] @ S
            S = S * last[:, :, i].exp().transpose(-1, -2) + kd[:, :, i]
        y = (intra + inter).permute(0, 2, 3, 1, 4).reshape(B, T, h, d)
        return self.o(self.ln(y).reshape(B, T, D) * F.silu(self.g(x)))


def gla_chunk():
    return GlaChunk(24, 3, 4), [torch.randn(2, 16, 24)]


class ImageFilters(nn.Module):
    """Gaussian and bilateral filters, Sobel, morphology, RGB to HSV, a DCT of 8x8 blocks, a Haar transform, histogram equalisation."""
    def __init__(self):
        super().__init__()
        g = torch.exp(-torch.arange(-2, 3).float() ** 2 / 2)
        self.register_buffer("g", (g / g.sum()), persistent=False)
        s = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
        self.register_buffer("sobel", torch.stack((s, s.t()))[:, None])
        k = torch.arange(8).float()
        d = torch.cos(math.pi * (2 * k[None] + 1) * k[:, None] / 16) * math.sqrt(2 / 8)
        d[0] = math.sqrt(1 / 8)
        self.dct = d
    def forward(self, x):
        n, c, h, w = x.shape
        gx = self.g.view(1, 1, 1, -1).repeat(c, 1, 1, 1)
        blur = F.conv2d(F.conv2d(x, gx, padding=(0, 2), groups=c), gx.transpose(2, 3), padding=(2, 0), groups=c)
        r, gr, b = x.unbind(1)
        grey = (0.299 * r + 0.587 * gr + 0.114 * b).unsqueeze(1)
        e = F.conv2d(F.pad(grey, [1] * 4, mode="replicate"), self.sobel)
        mag, ang = torch.hypot(e[:, 0], e[:, 1]), torch.atan2(e[:, 1], e[:, 0])
        u = F.unfold(F.pad(x, (1, 1, 1, 1), mode="reflect"), 3).view(n, c, 9, h, w)
        wt = torch.exp(-((u - x.unsqueeze(2)) ** 2).sum(1, keepdim=True) / 0.1)
        bil = (u * wt).sum(2) / wt.sum(2)
        opened = F.max_pool2d(-F.max_pool2d(-x, 3, 1, 1), 3, 1, 1)
        mx, idx = x.max(1)
        mn = x.min(1).values
        df = mx - mn
        hue = torch.where(df == 0, 0.0, torch.where(mx == r, ((gr - b) / (df + 1e-8)) % 6, torch.where(mx == gr, (b - r) / (df + 1e-8) + 2, (r - gr) / (df + 1e-8) + 4))) / 6
        hsv = torch.stack((hue, torch.where(mx == 0, torch.zeros_like(mx), df / mx), mx), 1)
        blocks = grey.unfold(2, 8, 8).unfold(3, 8, 8)
        co = self.dct @ blocks @ self.dct.T
        q = torch.round(co / 0.1) * 0.1
        back = (self.dct.T @ q @ self.dct).permute(0, 1, 2, 4, 3, 5).reshape(n, 1, h, w)
        lo, hi = (x[..., ::2] + x[..., 1::2]) / 2, (x[..., ::2] - x[..., 1::2]) / 2
        haar = torch.cat((lo, hi), -1)
        bins = (grey * 15).long().clamp(0, 15).flatten(1)
        hist = torch.zeros(n, 16).scatter_add_(1, bins, torch.ones(n, h * w))
        cdf = hist.cumsum(1) / (h * w)
        eq = cdf.gather(1, bins).view_as(grey)
        gamma = torch.where(x <= 0.0031308, 12.92 * x, 1.055 * x.clamp(min=1e-4) ** (1 / 2.4) - 0.055)
        return blur, mag, ang, bil, opened, hsv, idx, back, haar, eq, gamma


def image_filters():
    return ImageFilters(), [torch.rand(2, 3, 16, 16)]


class InplaceOps(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(10, 10)
    def forward(self, x, idx, mask, upd):
        h = self.lin(x)
        h.masked_fill_(mask, 0.0)
        h[:, 3].add_(1.0)
        h[1, ::2] *= 3
        h.index_put_((idx, idx + 1), upd, accumulate=False)
        h.index_add_(1, torch.tensor([0, 4]), torch.ones(6, 2), alpha=0.5)
        h.index_copy_(0, torch.tensor([5, 2]), x[:2].clone())
        h.index_fill_(1, torch.tensor([9]), 2.5)
        g = torch.empty_like(h)
        g.copy_(h.sigmoid())
        g.clamp_(0.2, 0.8).addcmul_(h, h, value=0.1).addcdiv_(x, h.abs() + 1)
        g[..., -2:] = g[..., :2].flip(-1)
        out = torch.zeros(6, 20)
        out[:, 0::2], out[:, 1::2] = g, h
        out[mask.any(1)] = 0
        out.scatter_(1, idx[:, None].expand(-1, 2) + torch.arange(2), upd.unsqueeze(1).repeat(1, 2))
        out.scatter_add_(1, torch.full((6, 1), 19), upd[:, None])
        out.tril_(12).t_()
        out[2:5, 1].fill_(1.5)
        out.diagonal()[:3] = -1.0
        return out, g.sub_(0.5), h.masked_scatter(mask, x)


def inplace_ops():
    return InplaceOps(), [torch.randn(6, 10), torch.tensor([0, 1, 2, 3, 4, 5]), torch.rand(6, 10) > 0.8, torch.randn(6)]


class MpnnScatter(nn.Module):
    """Messages summed by index_add, the largest and the mean by scatter_reduce (PNA), a GRU cell, sums over graphs."""
    def __init__(self, node, edge, hid):
        super().__init__()
        self.emb, self.eemb = nn.Linear(node, hid), nn.Linear(edge, hid)
        self.msg = nn.Sequential(nn.Linear(3 * hid, hid), nn.ReLU(), nn.Linear(hid, hid))
        self.mix = nn.Linear(4 * hid, hid)
        self.cell = nn.GRUCell(hid, hid)
        self.out = nn.Linear(hid, 1)
    def forward(self, x, edges, attr, batch):
        h = F.relu(self.emb(x))
        e = self.eemb(attr)
        src, dst = edges[0], edges[1]
        n = h.shape[0]
        for _ in range(2):
            m = self.msg(torch.cat((h[src], h[dst], e), -1))
            total = torch.zeros_like(h).index_add(0, dst, m)
            deg = torch.zeros(n).index_add_(0, dst, torch.ones(dst.shape[0])).clamp(min=1)
            i = dst.unsqueeze(-1).expand_as(m)
            big = torch.zeros_like(h).scatter_reduce(0, i, m, reduce="amax", include_self=False)
            mean2 = torch.zeros_like(h).scatter_reduce_(0, i, m * m, reduce="mean", include_self=False)
            mean = total / deg[:, None]
            std = torch.sqrt(F.relu(mean2 - mean * mean) + 1e-5)
            h = self.cell(self.mix(torch.cat((total, big, mean, std), -1)), h)
        g = torch.zeros(3, h.shape[1]).index_add_(0, batch, h)
        return self.out(g).squeeze(-1), h


def mpnn_scatter():
    return MpnnScatter(6, 3, 16), [torch.randn(12, 6), torch.randint(0, 12, (2, 30)), torch.randn(30, 3), torch.tensor([0] * 4 + [1] * 5 + [2] * 3)]


class NeusRender(nn.Module):
    """NeuS: alphas from signed distances, weights by an exclusive cumprod, depth and normals; plus inverse-CDF samples."""
    def __init__(self, hid, fine):
        super().__init__()
        self.sdf = nn.Sequential(nn.Linear(3, hid), nn.Softplus(beta=100), nn.Linear(hid, hid), nn.Softplus(beta=100), nn.Linear(hid, 1 + 8))
        self.col = nn.Sequential(nn.Linear(8 + 6, hid), nn.ReLU(), nn.Linear(hid, 3), nn.Sigmoid())
        self.inv_s = nn.Parameter(torch.tensor(0.3))
        self.fine = fine
    def forward(self, o, d, near, far):
        n = 16
        t = torch.linspace(0.0, 1.0, n)
        z = near + (far - near) * t[None]
        p = o[:, None] + d[:, None] * z[..., None]
        h = self.sdf(p)
        s, f = h[..., 0], h[..., 1:]
        rgb = self.col(torch.cat((f, p, d[:, None].expand_as(p)), -1))
        inv = torch.exp(self.inv_s * 10.0).clip(1e-6, 1e6)
        cdf = torch.sigmoid(s * inv)
        a = ((cdf[:, :-1] - cdf[:, 1:] + 1e-5) / (cdf[:, :-1] + 1e-5)).clip(0.0, 1.0)
        w = a * torch.cumprod(torch.cat([torch.ones(a.shape[0], 1), 1.0 - a + 1e-7], -1), -1)[:, :-1]
        colour = (w[..., None] * rgb[:, :-1]).sum(1) + (1 - w.sum(-1, keepdim=True))
        depth = (w * 0.5 * (z[:, 1:] + z[:, :-1])).sum(-1)
        pdf = (w + 1e-5) / (w + 1e-5).sum(-1, keepdim=True)
        c = torch.cat([torch.zeros_like(pdf[..., :1]), pdf.cumsum(-1)], -1)
        u = torch.linspace(0.5 / self.fine, 1 - 0.5 / self.fine, self.fine).expand(*c.shape[:-1], self.fine).contiguous()
        i = torch.searchsorted(c, u, right=True)
        lo, hi = torch.clamp(i - 1, min=0), torch.clamp(i, max=c.shape[-1] - 1)
        cl, ch = c.gather(-1, lo), c.gather(-1, hi)
        zl, zh = z.gather(-1, lo), z.gather(-1, hi)
        den = torch.where(ch - cl < 1e-5, torch.ones_like(ch), ch - cl)
        return colour, depth, (zl + (u - cl) / den * (zh - zl)).detach()


def neus_render():
    return NeusRender(24, 6), [torch.randn(10, 3) * 0.1, F.normalize(torch.randn(10, 3), dim=-1), torch.full((10, 1), 0.2), torch.full((10, 1), 1.5)]


class NtmAddressing(nn.Module):
    """A neural Turing machine's head: content, gate, circular shift, sharpening; erase and add."""
    def __init__(self, hid, width):
        super().__init__()
        self.m = width
        self.fc = nn.Linear(hid, width + 1 + 1 + 3 + 1 + 2 * width)
    def forward(self, h, memory, w_prev):
        k, beta, g, s, gamma, e, a = torch.split(self.fc(h), [self.m, 1, 1, 3, 1, self.m, self.m], dim=1)
        beta, g, s, gamma = F.softplus(beta), torch.sigmoid(g), F.softmax(s, dim=1), 1 + F.softplus(gamma)
        wc = F.softmax(beta * F.cosine_similarity(memory + 1e-16, k.unsqueeze(1) + 1e-16, dim=-1), dim=1)
        wg = g * wc + (1 - g) * w_prev
        padded = torch.cat((wg[:, -1:], wg, wg[:, :1]), 1)
        ws = F.conv1d(padded.unsqueeze(0), s.unsqueeze(1), groups=wg.shape[0]).squeeze(0)
        w = ws ** gamma
        w = w / (w.sum(1, keepdim=True) + 1e-16)
        read = torch.matmul(w.unsqueeze(1), memory).squeeze(1)
        memory = memory * (1 - torch.einsum("bn,bm->bnm", w, e.sigmoid())) + torch.einsum("bn,bm->bnm", w, a)
        return read, memory, w


def ntm_addressing():
    return NtmAddressing(10, 6), [torch.randn(3, 10), torch.randn(3, 12, 6), torch.softmax(torch.randn(3, 12), 1)]


class RoiAlignGather(nn.Module):
    """RoIAlign by hand: a grid of points in each box, four corners gathered, blended, averaged."""
    def __init__(self, out, ratio, scale):
        super().__init__()
        self.out, self.ratio, self.scale = out, ratio, scale
    def forward(self, feat, boxes, batch):
        n, c, h, w = feat.shape
        r = boxes.shape[0]
        o, s = self.out, self.ratio
        x1, y1, x2, y2 = (boxes * self.scale - 0.5).unbind(1)
        bw, bh = (x2 - x1) / o, (y2 - y1) / o
        step = (torch.arange(o * s) + 0.5) / s
        ys = y1[:, None] + step * bh[:, None]
        xs = x1[:, None] + step * bw[:, None]
        oky, okx = (ys > -1) & (ys < h), (xs > -1) & (xs < w)
        ys, xs = ys.clamp(0, h - 1), xs.clamp(0, w - 1)
        yl, xl = ys.floor().long(), xs.floor().long()
        yh, xh = (yl + 1).clamp(max=h - 1), (xl + 1).clamp(max=w - 1)
        ly, lx = ys - yl, xs - xl
        b = batch[:, None, None]
        def corner(yi, xi):
            return feat[b, :, yi[:, :, None], xi[:, None, :]]
        hy, hx = 1 - ly, 1 - lx
        v = (corner(yl, xl) * (hy[:, :, None] * hx[:, None, :])[..., None] + corner(yl, xh) * (hy[:, :, None] * lx[:, None, :])[..., None]
             + corner(yh, xl) * (ly[:, :, None] * hx[:, None, :])[..., None] + corner(yh, xh) * (ly[:, :, None] * lx[:, None, :])[..., None])
        v = v * (oky[:, :, None] & okx[:, None, :])[..., None]
        return v.view(r, o, s, o, s, c).mean(dim=(2, 4)).permute(0, 3, 1, 2)


def roi_align_gather():
    lo = torch.rand(5, 2) * 20
    return RoiAlignGather(3, 2, 0.5), [torch.randn(2, 6, 10, 12), torch.cat((lo, lo + 4 + torch.rand(5, 2) * 16), 1), torch.randint(0, 2, (5,))]


class StridedViewsOut(nn.Module):
    """Arguments that are not dense, results that are views of each other, of an argument and of a weight."""
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n))
    def forward(self, x, y, z):
        a = x.t() @ self.w[::2].t()
        b = a.unflatten(1, (2, -1))
        c = (y[..., 1:] - y[..., :-1]).as_strided((4, 3), (1, 4))
        d = z.expand(5, -1, -1).transpose(0, 2).contiguous().view(-1, 5)
        e = torch.movedim(y.unfold(1, 3, 2), -1, 0)
        return b[:, 0], a, c, d.narrow(0, 1, 3), e * 2, x[1:], self.w.diagonal(), y.view_as(y).swapdims(0, 1), b.mT.square()


def strided_views_out():
    return StridedViewsOut(8), [torch.randn(8, 12)[:, ::2], torch.randn(9, 4).t(), torch.randn(1, 3).expand(4, 3)]


class SupconArcface(nn.Module):
    """Supervised contrastive loss, ArcFace, focal loss with alpha, label smoothing, distillation with a temperature, batch-hard triplets."""
    def __init__(self, dim, classes):
        super().__init__()
        self.w = nn.Parameter(torch.randn(classes, dim))
        self.classes = classes
    def forward(self, x, teacher, y):
        n = x.shape[0]
        z = F.normalize(x, dim=1)
        sim = z @ z.T / 0.1
        sim = sim - sim.max(dim=1, keepdim=True)[0].detach()
        same = torch.eq(y.view(-1, 1), y.view(1, -1)).float()
        off = torch.scatter(torch.ones_like(same), 1, torch.arange(n).view(-1, 1), 0)
        same = same * off
        logp = sim - torch.log((torch.exp(sim) * off).sum(1, keepdim=True))
        pos = same.sum(1)
        supcon = -(same * logp).sum(1) / torch.where(pos < 1e-6, 1, pos)
        cosine = F.linear(z, F.normalize(self.w)).clamp(-1 + 1e-7, 1 - 1e-7)
        sine = torch.sqrt(1.0 - torch.pow(cosine, 2))
        phi = cosine * math.cos(0.5) - sine * math.sin(0.5)
        phi = torch.where(cosine > math.cos(math.pi - 0.5), phi, cosine - math.sin(math.pi - 0.5) * 0.5)
        one = torch.zeros(cosine.size()).scatter_(1, y.view(-1, 1).long(), 1)
        logits = (one * phi + (1.0 - one) * cosine) * 30.0
        arc = F.cross_entropy(logits, y, label_smoothing=0.1)
        ce = F.cross_entropy(logits, y, reduction="none")
        pt = torch.exp(-ce)
        focal = (torch.tensor([0.25, 0.5, 1.0, 0.75])[y] * (1 - pt) ** 2 * ce).mean()
        T = 4.0
        kd = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(teacher / T, 1), reduction="batchmean") * T * T
        d = torch.cdist(z, z)
        hardest = (d * same).amax(1)
        nearest = (d + 1e5 * torch.eq(y[:, None], y[None])).amin(1)
        return supcon.mean(), arc, focal, kd, F.relu(hardest - nearest + 0.3).mean(), F.multilabel_margin_loss if False else F.multi_margin_loss(logits, y)


def supcon_arcface():
    return SupconArcface(10, 4), [torch.randn(8, 10), torch.randn(8, 4), torch.randint(0, 4, (8,))]


class NeuralCaHashGrid(nn.Module):
    """A neural cellular automaton's steps, and instant-ngp's hashed grid: integers multiplied, xored and reduced."""
    def __init__(self, ch, size, levels):
        super().__init__()
        s = torch.outer(torch.tensor([1.0, 2, 1]), torch.tensor([-1.0, 0, 1])) / 8
        i = torch.tensor([0.0, 1, 0])
        k = torch.stack((torch.outer(i, i), s, s.T))
        self.register_buffer("k", k.repeat(ch, 1, 1)[:, None])
        self.w1, self.w2 = nn.Conv2d(3 * ch, 24, 1), nn.Conv2d(24, ch, 1, bias=False)
        self.table = nn.Parameter(torch.randn(levels, size, 2))
        self.size, self.levels, self.ch = size, levels, ch
        self.mlp = nn.Linear(2 * levels, 3)
    def hashed(self, c):
        x, y, z = c.unbind(-1)
        return (x ^ (y * 2654435761) ^ (z * 805459861)) & (self.size - 1)
    def forward(self, state, gate, points):
        x = state
        for t in range(2):
            alive = F.max_pool2d(x[:, 3:4], 3, stride=1, padding=1) > 0.1
            y = F.conv2d(F.pad(x, (1, 1, 1, 1), "circular"), self.k, groups=self.ch)
            x = x + self.w2(F.relu(self.w1(y))) * gate[t].unsqueeze(1).float()
            alive = alive & (F.max_pool2d(x[:, 3:4], 3, stride=1, padding=1) > 0.1)
            x = x * alive.float()
        feats = []
        for l in range(self.levels):
            p = points * 4 * 1.5 ** l
            lo = p.floor().long()
            w = p - lo
            acc = 0
            for corner in range(8):
                o = torch.tensor([corner & 1, corner >> 1 & 1, corner >> 2 & 1])
                cw = torch.where(o.bool(), w, 1 - w).prod(-1, keepdim=True)
                acc = acc + self.table[l][self.hashed(lo + o)] * cw
            feats.append(acc)
        return x, torch.sigmoid(self.mlp(torch.cat(feats, -1)))


def neural_ca_hash_grid():
    return NeuralCaHashGrid(8, 64, 3), [torch.rand(1, 8, 8, 8), torch.rand(2, 1, 8, 8) > 0.5, torch.rand(20, 3)]


class Statistics(nn.Module):
    """Moments, ranges and correlations over several dimensions."""
    def forward(self, x, w):
        lo, hi = torch.aminmax(x, dim=-1, keepdim=True)
        scaled = (x - lo) / (hi - lo + 1e-6)
        m = x.mean((1, 3), keepdim=True)
        c = x - m
        sd = x.std((1, 3), keepdim=True, correction=2)
        skew = (c / sd).pow(3).mean((1, 3))
        kurt = (c / sd).pow(4).mean((1, 3)) - 3
        flat = x.flatten(1)
        cov = torch.cov(flat)
        corr = torch.corrcoef(flat)
        gram = torch.einsum("bchw,bdhw->bcd", x, x) / x[0, 0].numel()
        wm = (x * w).sum((2, 3)) / w.sum((2, 3)).clamp(min=1)
        ent = torch.special.entr(x.softmax(-1)).sum(-1)
        return (scaled, skew, kurt, cov, corr, gram, wm, ent, x.amax((0, 2)), x.amin(dim=[1, 2, 3]), torch.count_nonzero(x > 0, dim=(1, 2)), x.nansum((0, 1)),
                torch.linalg.norm(flat, ord=float("inf"), dim=1), flat.norm(p=3, dim=0), torch.linalg.matrix_norm(gram), x.argmax(), (x > 2).any(dim=(1, 2)) if hasattr(torch, "x") else (x > 1).any(),
                x.var(), torch.median(flat), flat.mode(1).values if False else flat.logsumexp((0, 1)), x.diff(n=2, dim=-1).abs().mean(), torch.trapezoid(x, dim=2))


def statistics():
    return Statistics(), [torch.randn(3, 4, 5, 6), (torch.rand(3, 1, 5, 6) > 0.5).float()]


class MixedInputs(nn.Module):
    """int64, int32, bool, u8, half, bfloat16, zero-dimensional tensors, plain numbers and None among the arguments."""
    def __init__(self, vocab, dim):
        super().__init__()
        self.word, self.seg = nn.Embedding(vocab, dim), nn.Embedding(2, dim)
        self.pix = nn.Conv2d(1, dim, 4, 4)
        self.ln = nn.LayerNorm(dim)
    def forward(self, ids, segments, keep, image, half, brain, temperature, step, none, ratio):
        x = self.word(ids) + self.seg(segments.long())
        p = self.pix(image.unsqueeze(1).float().div(255).sub_(0.5)).flatten(2).transpose(1, 2)
        x = self.ln(torch.cat((x, p), 1))
        keep = torch.cat((keep, torch.ones(keep.shape[0], p.shape[1], dtype=torch.bool)), 1)
        x = x * keep.unsqueeze(-1)
        warm = torch.minimum(step / 1000, torch.ones(()))
        y = x.mean(1) / temperature * warm + (half @ half.t()).float().mean() * ratio
        z = brain.softmax(-1) * half.to(torch.bfloat16)
        return y, z, keep.sum(-1), (step + 1), image.amax((1, 2)), temperature * 2


def mixed_inputs():
    return MixedInputs(20, 12), [torch.randint(0, 20, (2, 7)), torch.randint(0, 2, (2, 7), dtype=torch.int32), torch.rand(2, 7) > 0.3, torch.randint(0, 256, (2, 8, 8), dtype=torch.uint8),
            torch.randn(3, 8).half(), torch.randn(3, 8).bfloat16(), torch.tensor(0.7), torch.tensor(120), None, 0.25]
