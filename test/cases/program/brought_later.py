"""More programs of the kinds that users bring, each a function that returns a module and its inputs: vision, speech, recommenders, graphs,
diffusion, losses, samplers, sequences, quantised layers. Written after brought.py, before hone was looked at again."""
import math
from typing import NamedTuple, Optional

import torch, torch.nn as nn, torch.nn.functional as F


class AnchorHead(nn.Module):
    """A detector's last part: scores and boxes of each level, the best of them decoded."""

    def __init__(self, c=16, anchors=3, classes=5):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(4, c), nn.ReLU(inplace=True), nn.Conv2d(c, c, 3, padding=1), nn.ReLU(inplace=True))
        self.cls, self.box = nn.Conv2d(c, anchors * classes, 3, padding=1), nn.Conv2d(c, anchors * 4, 3, padding=1)
        self.anchors, self.classes = anchors, classes
        for level, (size, stride) in enumerate(((8, 4), (4, 8))):
            ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
            centres = torch.stack((xs, ys), -1).reshape(-1, 1, 2).float() * stride + stride / 2
            sides = torch.tensor([[8.0, 8.0], [8.0, 16.0], [16.0, 8.0]])
            self.register_buffer(f"anchors_{level}", torch.cat((centres - sides / 2, centres + sides / 2), -1).reshape(-1, 4))

    def forward(self, features):
        scores, boxes, anchors = [], [], []
        for level, x in enumerate(features):
            x = self.tower(x)
            scores.append(self.cls(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, self.classes))
            boxes.append(self.box(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 4))
            anchors.append(getattr(self, f"anchors_{level}"))
        scores, boxes, anchors = torch.cat(scores, 1).sigmoid(), torch.cat(boxes, 1), torch.cat(anchors, 0)
        sides = anchors[:, 2:] - anchors[:, :2]
        centres = anchors[:, :2] + 0.5 * sides
        dxy, dwh = boxes[..., :2], boxes[..., 2:].clamp(max=math.log(1000.0 / 16))
        c, s = dxy * sides + centres, dwh.exp() * sides
        boxes = torch.cat((c - 0.5 * s, c + 0.5 * s), -1).clamp(min=0, max=32)
        best, order = scores.amax(-1).topk(6, dim=1)
        return best, boxes.gather(1, order.unsqueeze(-1).expand(-1, -1, 4)), scores.argmax(-1).gather(1, order)


def detector():
    return AnchorHead(), [[torch.randn(2, 16, 8, 8), torch.randn(2, 16, 4, 4)]]


class GIoU(nn.Module):
    def forward(self, a, b):
        area = lambda t: (t[..., 2] - t[..., 0]) * (t[..., 3] - t[..., 1])
        low, high = torch.maximum(a[:, None, :2], b[None, :, :2]), torch.minimum(a[:, None, 2:], b[None, :, 2:])
        inner = (high - low).clamp(min=0).prod(-1)
        union = area(a)[:, None] + area(b)[None] - inner
        iou = inner / union.clamp(min=1e-7)
        hull = (torch.max(a[:, None, 2:], b[None, :, 2:]) - torch.min(a[:, None, :2], b[None, :, :2])).clamp(min=0)
        hull = hull[..., 0] * hull[..., 1]
        giou = iou - (hull - union) / hull.clamp(min=1e-7)
        best, which = iou.max(dim=1)
        return giou, torch.where(best > 0.3, which, torch.full_like(which, -1)), (1 - giou.diagonal()).mean()


def _boxes(n):
    low = torch.rand(n, 2)
    return torch.cat((low, low + 0.1 + torch.rand(n, 2)), -1)


def giou():
    return GIoU(), [_boxes(12), _boxes(12)]


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc = nn.Sequential(nn.Conv2d(1, 4, 5), nn.MaxPool2d(2), nn.ReLU(True), nn.Flatten(), nn.Linear(4 * 6 * 6, 6))
        self.loc[-1].weight.data.mul_(0.1)
        self.loc[-1].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0.0]))

    def forward(self, x):
        theta = self.loc(x).view(-1, 2, 3)
        return F.grid_sample(x, F.affine_grid(theta, x.size(), align_corners=False), align_corners=False)


def spatial_transformer():
    return SpatialTransformer(), [torch.randn(2, 1, 16, 16)]


class ESPCN(nn.Module):
    def __init__(self, up=2):
        super().__init__()
        self.a, self.p = nn.Conv2d(3, 16, 5, padding=2), nn.PReLU(16)
        self.b, self.shuffle = nn.Conv2d(16, 3 * up * up, 3, padding=1), nn.PixelShuffle(up)

    def forward(self, x):
        skip = F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return torch.clamp(self.shuffle(self.b(self.p(self.a(x)))) + skip, 0, 1)


def super_resolution():
    return ESPCN(), [torch.rand(2, 3, 10, 12)]


class ASPP(nn.Module):
    def __init__(self, c=8, o=6):
        super().__init__()
        self.convs = nn.ModuleList([nn.Sequential(nn.Conv2d(c, o, 3, padding=r, dilation=r, bias=False), nn.BatchNorm2d(o), nn.ReLU()) for r in (1, 2, 4)])
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, o, 1), nn.ReLU())
        self.project = nn.Sequential(nn.Conv2d(4 * o, o, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Conv2d(o, 4, 1)

    def forward(self, x):
        size = x.shape[-2:]
        all = [conv(x) for conv in self.convs] + [F.interpolate(self.pool(x), size=size, mode="bilinear", align_corners=False)]
        y = self.head(self.project(torch.cat(all, dim=1)))
        return F.interpolate(y, scale_factor=4, mode="bilinear", align_corners=True).argmax(1), F.adaptive_max_pool2d(y, (3, 5))


def segmentation():
    return ASPP(), [torch.randn(2, 8, 12, 12)]


class Shuffle(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        h = c // 2
        self.branch = nn.Sequential(nn.Conv2d(h, h, 1, bias=False), nn.BatchNorm2d(h), nn.Hardswish(), nn.Conv2d(h, h, 3, 1, 1, groups=h, bias=False), nn.BatchNorm2d(h), nn.Conv2d(h, h, 1, bias=False),
                                    nn.BatchNorm2d(h), nn.Hardswish())
        self.squeeze, self.excite = nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        y = torch.cat((a, self.branch(b)), 1)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
        gate = F.hardsigmoid(self.excite(F.relu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        return F.avg_pool2d(y * gate, 3, stride=2, padding=1, count_include_pad=False)


def shufflenet():
    return Shuffle(), [torch.randn(2, 16, 9, 9).to(memory_format=torch.channels_last)]


class Rendering(nn.Module):
    """Along rays: positions encoded, density and colour of each, seen through what lies before."""

    def __init__(self, bands=4, width=24):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(bands))
        self.net = nn.Sequential(nn.Linear(3 + 6 * bands, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma, self.rgb = nn.Linear(width, 1), nn.Linear(width + 3, 3)

    def forward(self, origins, directions, depths):
        points = origins[:, None] + directions[:, None] * depths[..., None]
        angles = (points[..., None] * self.bands).flatten(-2)
        h = self.net(torch.cat((points, angles.sin(), angles.cos()), -1))
        views = F.normalize(directions, dim=-1)[:, None].expand_as(points)
        rgb, sigma = torch.sigmoid(self.rgb(torch.cat((h, views), -1))), F.softplus(self.sigma(h)).squeeze(-1)
        delta = torch.cat((depths[:, 1:] - depths[:, :-1], torch.full_like(depths[:, :1], 1e10)), -1)
        alpha = 1 - torch.exp(-sigma * delta)
        through = torch.cumprod(torch.cat((torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10), -1), -1)[:, :-1]
        weights = alpha * through
        return (weights[..., None] * rgb).sum(-2), (weights * depths).sum(-1), weights


def nerf():
    return Rendering(), [torch.randn(6, 3), torch.randn(6, 3), torch.linspace(2, 6, 16).expand(6, 16) + 0.1 * torch.rand(6, 1)]


class Correlation(nn.Module):
    """Optical flow's cost volume."""

    def forward(self, a, b):
        n, c, h, w = a.shape
        patches = F.unfold(b, 5, padding=2).view(n, c, 25, h, w)
        cost = (a.unsqueeze(2) * patches).mean(1)
        up = F.pixel_unshuffle(cost, 2)
        return F.leaky_relu(cost, 0.1), up, F.fold(F.unfold(a, 2, stride=2), (h, w), 2, stride=2)


def flow():
    return Correlation(), [torch.randn(2, 6, 8, 8), torch.randn(2, 6, 8, 8)]


class SSIM(nn.Module):
    def __init__(self):
        super().__init__()
        g = torch.exp(-((torch.arange(7) - 3.0) ** 2) / (2 * 1.5 ** 2))
        g = g / g.sum()
        self.register_buffer("window", (g[:, None] * g[None])[None, None].repeat(3, 1, 1, 1), persistent=False)

    def forward(self, x, y):
        blur = lambda t: F.conv2d(t, self.window, padding=3, groups=3)
        mx, my = blur(x), blur(y)
        vx, vy, vxy = blur(x * x) - mx ** 2, blur(y * y) - my ** 2, blur(x * y) - mx * my
        s = ((2 * mx * my + 1e-4) * (2 * vxy + 9e-4)) / ((mx ** 2 + my ** 2 + 1e-4) * (vx + vy + 9e-4))
        return 1 - s.mean(), F.l1_loss(x, y) + (x - y).abs().diff(dim=-1).abs().mean()


def ssim():
    return SSIM(), [torch.rand(2, 3, 16, 16), torch.rand(2, 3, 16, 16)]


class Modulated(nn.Module):
    """StyleGAN's convolution: weights of each sample's own."""

    def __init__(self, c=8, o=6, style=10):
        super().__init__()
        self.weight, self.affine = nn.Parameter(torch.randn(o, c, 3, 3)), nn.Linear(style, c)
        self.noise, self.bias = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(o))
        self.register_buffer("kernel", torch.tensor([1.0, 3, 3, 1]).outer(torch.tensor([1.0, 3, 3, 1])) / 64)

    def forward(self, x, style, noise):
        n, c, h, w = x.shape
        s = self.affine(style) + 1
        weight = self.weight[None] * s[:, None, :, None, None]
        weight = weight * torch.rsqrt(weight.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
        y = F.conv2d(x.reshape(1, n * c, h, w), weight.reshape(-1, c, 3, 3), padding=1, groups=n).reshape(n, -1, h, w)
        y = F.leaky_relu(y + self.noise * noise + self.bias[:, None, None], 0.2) * math.sqrt(2)
        o = y.shape[1]
        y = F.conv_transpose2d(y, self.kernel[None, None].expand(o, 1, 4, 4), stride=2, padding=1, groups=o)
        std = y.view(2, -1, *y.shape[1:]).var(0, unbiased=False).add(1e-8).sqrt().mean((1, 2, 3))
        return y, std


def stylegan():
    return Modulated(), [torch.randn(4, 8, 6, 6), torch.randn(4, 10), torch.randn(4, 1, 6, 6)]


class Mel(nn.Module):
    def __init__(self, n=64, hop=16, mels=10):
        super().__init__()
        self.n, self.hop = n, hop
        self.register_buffer("window", torch.hann_window(n))
        self.register_buffer("mel", torch.rand(mels, n // 2 + 1))

    def forward(self, wave):
        wave = torch.cat((wave[:, :1], wave[:, 1:] - 0.97 * wave[:, :-1]), 1)
        spectrum = torch.stft(wave, self.n, self.hop, window=self.window, center=True, return_complex=True)
        power = spectrum.abs().pow(2)
        mel = torch.log10(torch.clamp(self.mel @ power, min=1e-10))
        mel = torch.maximum(mel, mel.amax((1, 2), keepdim=True) - 8.0)
        return (mel - mel.mean(-1, keepdim=True)) / (mel.std(-1, keepdim=True) + 1e-5)


def mel_spectrogram():
    return Mel(), [torch.randn(2, 320)]


class Conformer(nn.Module):
    def __init__(self, d=24, h=3, k=7):
        super().__init__()
        ff = lambda: nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Dropout(0.1), nn.Linear(4 * d, d), nn.Dropout(0.1))
        self.ff1, self.ff2, self.norm, self.end = ff(), ff(), nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = nn.MultiheadAttention(d, h, batch_first=True)
        self.cn, self.up, self.dw, self.bn, self.down = nn.LayerNorm(d), nn.Conv1d(d, 2 * d, 1), nn.Conv1d(d, d, k, padding=k // 2, groups=d), nn.BatchNorm1d(d), nn.Conv1d(d, d, 1)

    def forward(self, x, lengths):
        padding = torch.arange(x.shape[1], device=x.device)[None] >= lengths[:, None]
        x = x + 0.5 * self.ff1(x)
        y = self.norm(x)
        x = x + self.attention(y, y, y, key_padding_mask=padding, need_weights=False)[0]
        y = F.glu(self.up(self.cn(x).transpose(1, 2)), dim=1).masked_fill(padding[:, None], 0.0)
        x = x + self.down(F.silu(self.bn(self.dw(y)))).transpose(1, 2)
        return self.end(x + 0.5 * self.ff2(x))


def conformer():
    return Conformer(), [torch.randn(2, 14, 24), torch.tensor([14, 9])]


class CTC(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(12, 7)

    def forward(self, x, targets, input_lengths, target_lengths):
        logits = self.out(x).log_softmax(-1)
        loss = F.ctc_loss(logits.transpose(0, 1), targets, input_lengths, target_lengths, blank=0, zero_infinity=True)
        best = logits.argmax(-1)
        keep = torch.cat((torch.ones_like(best[:, :1], dtype=torch.bool), best[:, 1:] != best[:, :-1]), 1) & (best != 0)
        return loss, torch.where(keep, best, -1)


def ctc():
    return CTC(), [torch.randn(2, 15, 12), torch.randint(1, 7, (2, 4)), torch.tensor([15, 12]), torch.tensor([4, 3])]


class WaveNet(nn.Module):
    def __init__(self, c=8, layers=4):
        super().__init__()
        from torch.nn.utils.parametrizations import weight_norm
        self.first = nn.Conv1d(1, c, 1)
        self.gates = nn.ModuleList([weight_norm(nn.Conv1d(c, 2 * c, 2, dilation=2 ** i)) for i in range(layers)])
        self.skips = nn.ModuleList([nn.Conv1d(c, c, 1) for _ in range(layers)])
        self.last = nn.Conv1d(c, 16, 1)

    def forward(self, x):
        x, total = self.first(x), 0
        for i, (gate, skip) in enumerate(zip(self.gates, self.skips)):
            a, b = gate(F.pad(x, (2 ** i, 0))).chunk(2, 1)
            y = torch.tanh(a) * torch.sigmoid(b)
            total = total + skip(y)
            x = (x + y) * math.sqrt(0.5)
        logits = self.last(F.relu(total))
        mu = torch.sign(x) * torch.log1p(255 * x.abs()) / math.log1p(255)
        return logits, ((mu + 1) / 2 * 255 + 0.5).to(torch.int64)


def wavenet():
    return WaveNet(), [torch.rand(2, 1, 40) * 2 - 1]


class DLRM(nn.Module):
    def __init__(self, d=8, tables=3):
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(20, d, mode="sum") for _ in range(tables)])
        self.bottom, self.top = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, d), nn.ReLU()), nn.Sequential(nn.Linear(d + 6, 16), nn.ReLU(), nn.Linear(16, 1))
        i, j = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("i", i, persistent=False)
        self.register_buffer("j", j, persistent=False)

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        all = torch.stack([x] + [bag(sparse[:, k]) for k, bag in enumerate(self.bags)], 1)
        z = torch.bmm(all, all.transpose(1, 2))[:, self.i, self.j]
        return torch.sigmoid(self.top(torch.cat((x, z), 1))).squeeze(1)


def dlrm():
    return DLRM(), [torch.randn(9, 6), torch.randint(0, 20, (9, 3, 4))]


class DeepFM(nn.Module):
    def __init__(self, fields=(7, 5, 11), d=6):
        super().__init__()
        self.register_buffer("offsets", torch.tensor((0, *fields[:-1])).cumsum(0))
        self.embedding, self.linear, self.bias = nn.Embedding(sum(fields), d), nn.Embedding(sum(fields), 1), nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(len(fields) * d, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))

    def forward(self, x):
        x = x + self.offsets
        e = self.embedding(x)
        fm = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid((self.linear(x).sum(1) + self.bias + fm + self.mlp(e.flatten(1))).squeeze(-1))


def deepfm():
    return DeepFM(), [torch.stack([torch.randint(0, n, (8,)) for n in (7, 5, 11)], 1)]


class TwoTower(nn.Module):
    """History attended by the candidate; the batch's own candidates are the negatives."""

    def __init__(self, items=40, d=12):
        super().__init__()
        self.items, self.score = nn.Embedding(items, d, padding_idx=0), nn.Sequential(nn.Linear(4 * d, 8), nn.PReLU(), nn.Linear(8, 1))
        self.user, self.item, self.log_scale = nn.Linear(d, d), nn.Linear(d, d), nn.Parameter(torch.tensor(2.6))

    def forward(self, history, candidate):
        h, c = self.items(history), self.items(candidate)
        cc = c.unsqueeze(1).expand_as(h)
        w = self.score(torch.cat((h, cc, h - cc, h * cc), -1)).squeeze(-1).masked_fill(history == 0, -torch.inf)
        u = (torch.nan_to_num(w.softmax(-1)).unsqueeze(1) @ h).squeeze(1)
        u, i = F.normalize(self.user(u), dim=-1), F.normalize(self.item(c), dim=-1)
        logits = self.log_scale.exp().clamp(max=100) * u @ i.t()
        same = candidate[:, None] == candidate[None]
        logits = logits.masked_fill(same & ~torch.eye(len(candidate), dtype=torch.bool), -1e9)
        labels = torch.arange(logits.shape[0])
        hits = (logits.topk(3, 1).indices == labels[:, None]).any(1).float().mean()
        return F.cross_entropy(logits, labels), hits


def two_tower():
    return TwoTower(), [torch.randint(0, 40, (8, 6)), torch.randint(1, 40, (8,))]


class SAGE(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.own, self.near, self.out = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(2 * d, 3)

    def forward(self, x, edges, batch):
        source, target = edges
        total = torch.zeros_like(x).index_add_(0, target, x[source])
        degree = torch.zeros(x.shape[0]).scatter_add_(0, target, torch.ones(target.shape[0])).clamp(min=1)
        x = F.relu(self.own(x) + self.near(total / degree.unsqueeze(-1)))
        biggest = torch.full((3, x.shape[1]), -torch.inf).scatter_reduce(0, batch[:, None].expand_as(x), x, reduce="amax", include_self=True)
        means = torch.zeros(3, x.shape[1]).scatter_reduce(0, batch[:, None].expand_as(x), x, reduce="mean", include_self=False)
        return self.out(torch.cat((biggest, means), 1)).log_softmax(-1)


def graphsage():
    return SAGE(), [torch.randn(10, 8), torch.randint(0, 10, (2, 24)), torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])]


class EGNN(nn.Module):
    """Coordinates move along differences of coordinates; forces are an energy's gradient, as a formula."""

    def __init__(self, d=8):
        super().__init__()
        self.edge, self.node, self.move = nn.Sequential(nn.Linear(2 * d + 1, d), nn.SiLU()), nn.Linear(2 * d, d), nn.Linear(d, 1, bias=False)

    def forward(self, h, x, mask):
        n = h.shape[1]
        difference = x[:, :, None] - x[:, None]
        distance = difference.square().sum(-1, keepdim=True)
        m = self.edge(torch.cat((h[:, :, None].expand(-1, -1, n, -1), h[:, None].expand(-1, n, -1, -1), distance), -1))
        m = m * (mask[:, :, None] & mask[:, None] & ~torch.eye(n, dtype=torch.bool))[..., None]
        x = x + (difference / (distance.sqrt() + 1) * self.move(m)).sum(2) / (n - 1)
        rbf = torch.exp(-10 * (torch.cdist(x, x)[..., None] - torch.linspace(0, 4, 5)) ** 2)
        return h + self.node(torch.cat((h, m.sum(2)), -1)), x, rbf.sum((1, 2))


def egnn():
    return EGNN(), [torch.randn(2, 5, 8), torch.randn(2, 5, 3), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])]


class DiT(nn.Module):
    def __init__(self, d=24, h=3, patch=2, c=4, size=8):
        super().__init__()
        self.patch, self.h, self.c, self.size = patch, h, c, size
        self.embed = nn.Conv2d(c, d, patch, patch)
        self.pos = nn.Parameter(torch.randn(1, (size // patch) ** 2, d) * 0.02)
        self.time, self.label = nn.Sequential(nn.Linear(16, d), nn.SiLU(), nn.Linear(d, d)), nn.Embedding(11, d)
        self.n1, self.n2, self.n3 = (nn.LayerNorm(d, elementwise_affine=False, eps=1e-6) for _ in range(3))
        self.qkv, self.proj, self.mlp = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Sequential(nn.Linear(d, 4 * d), nn.GELU("tanh"), nn.Linear(4 * d, d))
        self.ada, self.last, self.out = nn.Sequential(nn.SiLU(), nn.Linear(d, 6 * d)), nn.Sequential(nn.SiLU(), nn.Linear(d, 2 * d)), nn.Linear(d, patch * patch * c)

    def forward(self, x, t, y):
        freqs = torch.exp(-math.log(10000) * torch.arange(8, dtype=torch.float32) / 8)
        a = t[:, None].float() * freqs[None]
        c = self.time(torch.cat((a.cos(), a.sin()), -1)) + self.label(y)
        x = self.embed(x).flatten(2).transpose(1, 2) + self.pos
        modulate = lambda x, shift, scale: x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)
        s1, k1, g1, s2, k2, g2 = self.ada(c).chunk(6, dim=1)
        b, n, d = x.shape
        q, k, v = self.qkv(modulate(self.n1(x), s1, k1)).reshape(b, n, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4).unbind(0)
        x = x + g1.unsqueeze(1) * self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        x = x + g2.unsqueeze(1) * self.mlp(modulate(self.n2(x), s2, k2))
        x = self.out(modulate(self.n3(x), *self.last(c).chunk(2, 1)))
        g, p = self.size // self.patch, self.patch
        return torch.einsum("nhwpqc->nchpwq", x.reshape(b, g, g, p, p, self.c)).reshape(b, self.c, g * p, g * p)


def dit():
    return DiT(), [torch.randn(2, 4, 8, 8), torch.tensor([3, 711]), torch.tensor([10, 4])]


class DDIM(nn.Module):
    """Four steps of a sampler around a small net, guided."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 2, 3, padding=1))
        self.register_buffer("alphas", torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100), 0))

    def forward(self, x, condition):
        for t, s in ((99, 66), (66, 33), (33, 10), (10, -1)):
            a, b = self.alphas[t], self.alphas[s] if s >= 0 else torch.tensor(1.0)
            both = self.net(torch.cat((torch.cat((x, x)), torch.cat((condition, torch.zeros_like(condition)))), 1))
            on, off = both.chunk(2)
            eps = off + 3.0 * (on - off)
            x0 = ((x - (1 - a).sqrt() * eps) / a.sqrt()).clamp(-1, 1)
            x = b.sqrt() * x0 + (1 - b).sqrt() * eps
        return (x / 2 + 0.5).clamp(0, 1)


def ddim():
    return DDIM(), [torch.randn(2, 2, 8, 8), torch.randn(2, 1, 8, 8)]


class NoiseLoss(nn.Module):
    """What a diffusion model is trained by: noise and time are given."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 32), nn.SiLU(), nn.Linear(32, 6))
        self.register_buffer("bars", torch.cumprod(1 - torch.linspace(1e-4, 0.02, 50), 0))

    def forward(self, x, t, noise):
        take = lambda table: table[t].view(-1, 1)
        noisy = take(self.bars.sqrt()) * x + take((1 - self.bars).sqrt()) * noise
        found = self.net(torch.cat((noisy, t[:, None] / 50), 1))
        snr = take(self.bars / (1 - self.bars))
        weight = torch.minimum(snr, torch.full_like(snr, 5.0)) / snr
        return (weight * F.mse_loss(found, noise, reduction="none")).mean(), F.smooth_l1_loss(found, noise, beta=0.5)


def noise_loss():
    return NoiseLoss(), [torch.randn(8, 6), torch.randint(0, 50, (8,)), torch.randn(8, 6)]


class SegmentationLosses(nn.Module):
    def forward(self, logits, labels):
        hot = F.one_hot(labels.clamp(min=0), logits.shape[1]).permute(0, 3, 1, 2).to(logits.dtype)
        known = (labels >= 0).unsqueeze(1)
        p = logits.softmax(1) * known
        dice = 1 - ((2 * (p * hot * known).sum((0, 2, 3)) + 1) / (p.sum((0, 2, 3)) + (hot * known).sum((0, 2, 3)) + 1)).mean()
        ce = F.cross_entropy(logits, labels, ignore_index=-1, label_smoothing=0.1)
        weighted = F.cross_entropy(logits, labels, weight=torch.tensor([1.0, 2.0, 0.5, 1.0]), ignore_index=-1)
        b = F.binary_cross_entropy_with_logits(logits, hot, reduction="none", pos_weight=torch.full((4, 1, 1), 2.0))
        focal = (0.25 * (1 - torch.exp(-b)) ** 2 * b).mean()
        return ce + dice, weighted, focal, F.nll_loss(logits.log_softmax(1), labels.clamp(min=0))


def segmentation_losses():
    return SegmentationLosses(), [torch.randn(2, 4, 6, 6), torch.randint(-1, 4, (2, 6, 6))]


class MetricLosses(nn.Module):
    def forward(self, a, b, labels):
        za, zb = F.normalize(a, dim=1), F.normalize(b, dim=1)
        z = torch.cat((za, zb))
        sim = z @ z.t() / 0.1
        sim.fill_diagonal_(-1e9)
        n = a.shape[0]
        nce = F.cross_entropy(sim, torch.cat((torch.arange(n) + n, torch.arange(n))))
        c = ((a - a.mean(0)) / a.std(0)).t() @ ((b - b.mean(0)) / b.std(0)) / n
        barlow = (c.diagonal() - 1).pow(2).sum() + 0.005 * (c - torch.diag_embed(c.diagonal())).pow(2).sum()
        triplet = F.triplet_margin_loss(a, b, b.roll(1, 0), margin=0.5)
        cosine = F.cosine_embedding_loss(a, b, labels.float() * 2 - 1, margin=0.2)
        off = c.flatten()[:-1].view(c.shape[0] - 1, -1)[:, 1:].pow(2).mean()
        return nce, barlow, triplet, cosine, off, F.margin_ranking_loss(a[:, 0], b[:, 0], torch.sign(a[:, 1])), F.kl_div(za.log_softmax(1), zb.log_softmax(1), log_target=True, reduction="batchmean")


def metric_losses():
    return MetricLosses(), [torch.randn(6, 10), torch.randn(6, 10), torch.randint(0, 2, (6,))]


class Checks(nn.Module):
    """PyTorch looks at values to refuse bad ones."""

    def forward(self, x, y):
        gauss = F.gaussian_nll_loss(x, y, F.softplus(x) + 0.1)
        return gauss * 2


def checks():
    return Checks(), [torch.randn(7, 5), torch.randn(7, 5)]


class OtherLosses(nn.Module):
    def forward(self, x, y, k):
        return (F.poisson_nll_loss(x, y.abs()), F.huber_loss(x, y, delta=0.7), F.hinge_embedding_loss(x, torch.sign(y)), F.soft_margin_loss(x, torch.sign(y)),
                F.multi_margin_loss(x, k), F.multilabel_soft_margin_loss(x, (y > 0).float()), F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)),
                torch.quantile(x, 0.9, dim=1), torch.trapezoid(x, dx=0.5), torch.logcumsumexp(x, 1), x.median(1).values, torch.renorm(x, 2, 0, 1.0))


def other_losses():
    return OtherLosses(), [torch.randn(7, 5), torch.randn(7, 5), torch.randint(0, 5, (7,))]


class Sampler(nn.Module):
    """Logits narrowed by top-k and top-p, words said before made less likely; one picked by noise that is given."""

    def forward(self, logits, said, noise, temperature: float = 0.7, top_k: int = 8, top_p: float = 0.9):
        before = torch.gather(logits, 1, said)
        logits = logits.scatter(1, said, torch.where(before < 0, before * 1.2, before / 1.2)) / temperature
        worst = torch.topk(logits, top_k, dim=-1).values[..., -1, None]
        logits = torch.where(logits < worst, torch.tensor(float("-inf")), logits)
        ordered, order = torch.sort(logits, descending=True)
        beyond = ordered.softmax(-1).cumsum(-1) > top_p
        beyond[..., 1:] = beyond[..., :-1].clone()
        beyond[..., 0] = False
        logits = logits.masked_fill(beyond.scatter(1, order, beyond), float("-inf"))
        p = logits.softmax(-1)
        return torch.argmax(p / noise, -1, keepdim=True), p, (-(p * torch.log(p.clamp_min(1e-9))).sum(-1))


def sampler():
    return Sampler(), [torch.randn(3, 24), torch.randint(0, 24, (3, 5)), torch.empty(3, 24).exponential_()]


class Beams(nn.Module):
    def forward(self, scores, logits, sequences):
        n, k, v = logits.shape
        total = (scores.unsqueeze(-1) + logits.log_softmax(-1)).view(n, k * v)
        best, flat = total.topk(k, dim=1)
        beam, word = flat // v, flat % v
        sequences = torch.cat((sequences.gather(1, beam.unsqueeze(-1).expand(-1, -1, sequences.shape[2])), word.unsqueeze(-1)), -1)
        done = (word == 2)
        return best.masked_fill(done, -1e9), sequences, torch.div(flat, v, rounding_mode="floor"), done.all(1)


def beams():
    return Beams(), [torch.randn(2, 3), torch.randn(2, 3, 11), torch.randint(0, 11, (2, 3, 4))]


class Speculative(nn.Module):
    """How many drafted words stand, and what comes after them."""

    def forward(self, draft, p, q, u):
        n, k = draft.shape
        pd, qd = (t.gather(2, draft.unsqueeze(-1)).squeeze(-1) for t in (p[:, :k], q))
        accepted = (u < (pd / qd).clamp(max=1)).long().cumprod(1)
        count = accepted.sum(1)
        rest = torch.cat((p[:, :k] - q, p[:, k:]), 1).clamp(min=0)
        rest = rest[torch.arange(n), count]
        return count, (rest / rest.sum(-1, keepdim=True)), torch.where(accepted.bool(), draft, -1)


def speculative():
    p = lambda *shape: torch.randn(*shape).softmax(-1)
    return Speculative(), [torch.randint(0, 9, (4, 3)), p(4, 4, 9), p(4, 3, 9), torch.rand(4, 3)]


class S4D(nn.Module):
    """A state space as a long convolution, by FFT."""

    def __init__(self, d=6, n=8):
        super().__init__()
        self.log_dt, self.c = nn.Parameter(torch.rand(d) - 4), nn.Parameter(torch.randn(d, n, 2))
        self.log_re, self.im = nn.Parameter(torch.full((d, n), math.log(0.5))), nn.Parameter(math.pi * torch.arange(n).repeat(d, 1).float())
        self.d, self.out = nn.Parameter(torch.randn(d)), nn.Linear(d, 2 * d)

    def forward(self, u):
        length = u.shape[-1]
        a = -torch.exp(self.log_re) + 1j * self.im
        dta = a * torch.exp(self.log_dt)[:, None]
        kernel = dta.unsqueeze(-1) * torch.arange(length)
        c = torch.view_as_complex(self.c) * (torch.exp(dta) - 1) / a
        kernel = 2 * torch.einsum("hn,hnl->hl", c, torch.exp(kernel)).real
        y = torch.fft.irfft(torch.fft.rfft(u, n=2 * length) * torch.fft.rfft(kernel, n=2 * length), n=2 * length)[..., :length]
        y = F.gelu(y + u * self.d[:, None])
        return F.glu(self.out(y.transpose(1, 2)), -1)


def s4d():
    return S4D(), [torch.randn(2, 6, 32)]


class Retention(nn.Module):
    """Chunks of linear attention with decay; the state goes from one to the next."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(d, d, bias=False) for _ in range(5))
        self.h, self.norm = h, nn.GroupNorm(h, d)
        self.register_buffer("gamma", 1 - 2.0 ** (-5 - torch.arange(h)))

    def forward(self, x, state):
        b, t, d = x.shape
        split = lambda y: y.view(b, t, self.h, d // self.h).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(x)) * (d // self.h) ** -0.5, split(self.v(x))
        n = 4
        i = torch.arange(n)
        decay = torch.where(i[:, None] >= i, self.gamma[:, None, None] ** (i[:, None] - i).clamp(min=0), 0.0)
        out = []
        for qc, kc, vc in zip(q.split(n, 2), k.split(n, 2), v.split(n, 2)):
            inner = (qc @ kc.mT * decay) @ vc
            cross = qc @ state * (self.gamma[:, None] ** (i + 1))[..., None]
            state = state * self.gamma[:, None, None] ** n + kc.mT @ (vc * (self.gamma[:, None] ** (n - 1 - i))[..., None])
            out.append(inner + cross)
        y = torch.cat(out, 2).transpose(1, 2).reshape(b * t, d)
        return self.o(F.silu(self.g(x)) * self.norm(y).view(b, t, d)), state


def retention():
    return Retention(), [torch.randn(2, 12, 16), torch.randn(2, 2, 8, 8)]


class CRF(nn.Module):
    def __init__(self, k=5):
        super().__init__()
        self.move, self.begin, self.end = nn.Parameter(torch.randn(k, k)), nn.Parameter(torch.randn(k)), nn.Parameter(torch.randn(k))

    def forward(self, x, tags):
        alpha, best, back = self.begin + x[:, 0], self.begin + x[:, 0], []
        score = (self.begin[tags[:, 0]] + x[:, 0].gather(1, tags[:, :1]).squeeze(1))
        for t in range(1, x.shape[1]):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + self.move, 1) + x[:, t]
            m, which = (best.unsqueeze(2) + self.move).max(1)
            best = m + x[:, t]
            back.append(which)
            score = score + self.move[tags[:, t - 1], tags[:, t]] + x[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)
        last = (best + self.end).argmax(1)
        path = [last]
        for which in reversed(back):
            path.append(which.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        return torch.logsumexp(alpha + self.end, 1) - score - self.end[tags[:, -1]], torch.stack(path[::-1], 1)


def crf():
    return CRF(), [torch.randn(3, 6, 5), torch.randint(0, 5, (3, 6))]


class Relative(nn.Module):
    """T5's buckets, ALiBi, Transformer-XL's shift, in three heads."""

    def __init__(self, h=3, d=8):
        super().__init__()
        self.bias, self.r = nn.Embedding(8, h), nn.Parameter(torch.randn(h, d, 10))
        self.register_buffer("slopes", 2.0 ** (-8 * torch.arange(1, h + 1) / h))

    def bucket(self, p, buckets=8, far=16):
        buckets //= 2
        at, p = (p > 0).long() * buckets, p.abs()
        exact = buckets // 2
        large = exact + (torch.log(p.float() / exact) / math.log(far / exact) * (buckets - exact)).long()
        return at + torch.where(p < exact, p, torch.min(large, torch.full_like(large, buckets - 1)))

    def forward(self, q, k, v):
        t = q.shape[2]
        p = torch.arange(t)[None] - torch.arange(t)[:, None]
        bias = self.bias(self.bucket(p)).permute(2, 0, 1)[None]
        shifted = F.pad(q @ self.r, (1, 0)).view(q.shape[0], q.shape[1], -1, t)[:, :, 1:].reshape(q.shape[0], q.shape[1], t, -1)[..., :t]
        scores = (q @ k.transpose(-1, -2) + shifted) / math.sqrt(q.shape[-1]) + bias - self.slopes[:, None, None] * p.abs()
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), torch.finfo(scores.dtype).min)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(q.shape[0], -1, -1, -1)), scores.softmax(-1, dtype=torch.float32) @ v


def relative_positions():
    return Relative(), [torch.randn(2, 3, 10, 8) for _ in range(3)]


class Kalman(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.h = nn.Parameter(torch.eye(4) + 0.1 * torch.randn(4, 4)), nn.Parameter(torch.randn(2, 4))
        self.log_q, self.log_r = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(2))

    def forward(self, z, x, p):
        eye = torch.eye(4)
        for t in range(z.shape[1]):
            x, p = x @ self.a.T, self.a @ p @ self.a.T + torch.diag(self.log_q.exp())
            s = self.h @ p @ self.h.T + torch.diag_embed(self.log_r.exp())
            k = torch.linalg.solve(s, self.h @ p).transpose(-1, -2)
            x = x + (k @ (z[:, t] - x @ self.h.T).unsqueeze(-1)).squeeze(-1)
            p = (eye - k @ self.h) @ p
        return x, p


def kalman():
    return Kalman(), [torch.randn(3, 4, 2), torch.randn(3, 4), torch.eye(4).expand(3, 4, 4).contiguous()]


class ODE(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d + 1, 16), nn.Tanh(), nn.Linear(16, d))

    def forward(self, x):
        f = lambda t, x: self.net(torch.cat((x, torch.full_like(x[:, :1], t)), 1))
        h, path = 0.25, [x]
        for i in range(4):
            t = i * h
            k1 = f(t, x)
            k2 = f(t + h / 2, x + h / 2 * k1)
            k3 = f(t + h / 2, x + h / 2 * k2)
            k4 = f(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            path.append(x)
        return torch.stack(path, 1)


def neural_ode():
    return ODE(), [torch.randn(5, 6)]


class Int4(nn.Module):
    """Eight weights of four bits in an int32, a scale and a zero for each group of inputs."""

    def __init__(self, k=64, n=16, group=32):
        super().__init__()
        self.register_buffer("packed", torch.randint(-2 ** 31, 2 ** 31 - 1, (k // 8, n), dtype=torch.int32))
        self.register_buffer("zeros", torch.randint(-2 ** 31, 2 ** 31 - 1, (k // group, n // 8), dtype=torch.int32))
        self.register_buffer("scales", torch.rand(k // group, n) * 0.1)
        self.register_buffer("shifts", torch.arange(0, 32, 4, dtype=torch.int32), persistent=False)
        self.group = group

    def forward(self, x):
        w = (self.packed[:, None] >> self.shifts[None, :, None]) & 15
        w = w.reshape(-1, self.packed.shape[1])
        z = ((self.zeros[:, :, None] >> self.shifts) & 0xF).flatten(1) + 1
        w = (w.view(-1, self.group, w.shape[1]) - z[:, None]) * self.scales[:, None]
        return x @ w.view(-1, w.shape[-1]).to(x.dtype)


def int4_weights():
    return Int4(), [torch.randn(3, 64)]


class FakeQuant(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.conv = nn.Linear(16, 12), nn.Conv1d(4, 4, 3, padding=1)

    def forward(self, x):
        w = self.linear.weight
        scale = w.abs().amax(1, keepdim=True) / 127
        wq = torch.clamp(torch.round(w / scale), -128, 127)
        w = w + (wq * scale - w).detach()
        a = x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
        x8 = (x / a * 127).round().to(torch.int8)
        y = torch.matmul(x8.float(), wq.t()) * (a / 127) * scale.squeeze(1) + self.linear.bias
        gamma = self.conv.weight.abs().mean()
        ternary = torch.sign(self.conv.weight) * (self.conv.weight.abs() > 0.5 * gamma)
        z = F.conv1d(F.linear(x, w).view(-1, 4, 3), ternary * gamma, self.conv.bias, padding=1)
        per = torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -128, 127)
        channels = torch.fake_quantize_per_channel_affine(x, torch.full((16,), 0.1), torch.zeros(16, dtype=torch.int32), 1, 0, 255)
        return y, z, per, channels, (x8.to(torch.int32) * 3 + 1).clamp(-127, 127).to(torch.int8)


def fake_quantised():
    return FakeQuant(), [torch.randn(6, 16)]


class EightBits(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.randint(-128, 128, (32, 24), dtype=torch.int8))
        self.register_buffer("f", torch.randn(24, 32).to(torch.float8_e4m3fn))
        self.register_buffer("scale", torch.rand(24) * 0.01)

    def forward(self, x):
        s = x.abs().amax(1, keepdim=True) / 127
        q = torch.round(x / s).to(torch.int8)
        y = torch._int_mm(q, self.w).to(torch.float32) * s * self.scale
        return y, F.linear(x.to(torch.bfloat16), self.f.to(torch.bfloat16)).float(), x.to(torch.float8_e5m2).float()


def eight_bits():
    return EightBits(), [torch.randn(20, 32)]


class LoRA(nn.Module):
    """A frozen layer, an adapter for each sample picked from several, a vmapped layer of an ensemble beside it."""

    def __init__(self, d=12, r=3, adapters=4):
        super().__init__()
        self.base = nn.Linear(d, d)
        self.base.requires_grad_(False)
        self.a, self.b = nn.Parameter(torch.randn(adapters, r, d)), nn.Parameter(torch.randn(adapters, d, r))
        self.ensemble = nn.Parameter(torch.randn(5, d, d))

    def forward(self, x, which):
        a, b = self.a[which], self.b[which]
        y = self.base(x) + 2.0 * torch.einsum("bdr,brk,btk->btd", b, a, x)
        every = torch.func.vmap(lambda w: torch.tanh(x.mean(1) @ w))(self.ensemble)
        return y, every.mean(0), every.var(0)


def lora():
    return LoRA(), [torch.randn(4, 5, 12), torch.randint(0, 4, (4,))]


class Forces(nn.Module):
    """Forces as an energy's gradient, taken in forward()."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, x):
        energy = lambda x: self.net(x).sum()
        return energy(x), -torch.func.grad(energy)(x)


def forces():
    return Forces(), [torch.randn(6, 3)]


class Answer(NamedTuple):
    logits: torch.Tensor
    hidden: Optional[torch.Tensor]


class Optional2(nn.Module):
    """Arguments that may be None, a named tuple as the answer, a printed word, a list among the weights."""

    def __init__(self):
        super().__init__()
        self.layers, self.scales = nn.ModuleDict({"a": nn.Linear(6, 6), "b": nn.Linear(6, 6)}), nn.ParameterList([nn.Parameter(torch.ones(6)), nn.Parameter(torch.full((1,), 2.0))])

    def forward(self, x, mask=None, *, keep: bool = False):
        for name, scale in zip(("a", "b"), self.scales):
            x = F.mish(self.layers[name](x)) * scale
        if mask is not None:
            x = x * mask
        return Answer(x, x.detach() if keep else None)


def optional():
    return Optional2(), [torch.randn(3, 6), None]


class Tracker(nn.Module):
    """Codes picked by distance, their use counted in buffers, the gradient passed straight through; statistics kept in eval too."""

    def __init__(self, k=10, d=6):
        super().__init__()
        self.codes = nn.Embedding(k, d)
        self.register_buffer("uses", torch.zeros(k))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.register_buffer("last", torch.zeros(4, d))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        distance = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codes.weight.t() + self.codes.weight.pow(2).sum(1)
        which = distance.argmin(1)
        with torch.no_grad():
            self.steps += 1
            self.uses.mul_(0.9).add_(F.one_hot(which, 10).float().sum(0), alpha=0.1)
            self.last.copy_(torch.cat((self.last[1:], flat[:1])))
        q = self.codes(which).view_as(x)
        p = self.uses / self.uses.sum()
        return x + (q - x).detach(), F.mse_loss(q, x.detach()) + 0.25 * F.mse_loss(q.detach(), x), torch.exp(-(p * (p + 1e-10).log()).sum())


def vector_quantised():
    return Tracker(), [torch.randn(2, 4, 6)]


class Buckets(nn.Module):
    """Numbers sorted into buckets, looked up, interpolated in a table; a histogram of known size."""

    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.linspace(-2, 2, 9))
        self.table = nn.Parameter(torch.randn(10, 4))

    def forward(self, x):
        at = torch.bucketize(x, self.edges)
        low = torch.searchsorted(self.edges, x.contiguous(), right=True).clamp(1, 8)
        left, right = self.edges[low - 1], self.edges[low]
        w = ((x - left) / (right - left)).unsqueeze(-1)
        counts = torch.zeros(10, dtype=torch.long).scatter_add_(0, at.flatten(), torch.ones_like(at.flatten()))
        return self.table[at], torch.lerp(self.table[low - 1], self.table[low], w), counts, torch.histc(x, 4, -2, 2)


def buckets():
    return Buckets(), [torch.randn(3, 7)]


class Hopping(nn.Module):
    """Longformer's windows by as_strided's friends, a pyramid, a mixture by einsum, a Fourier mixing layer."""

    def __init__(self, d=8):
        super().__init__()
        self.gate, self.experts = nn.Linear(d, 3), nn.Parameter(torch.randn(3, d, d))

    def forward(self, x):
        windows = F.pad(x, (0, 0, 2, 2)).unfold(1, 5, 1)
        near = torch.einsum("btd,btdw->btw", x, windows).softmax(-1)
        y = torch.einsum("btw,btdw->btd", near, windows)
        levels = [y]
        for _ in range(2):
            levels.append(F.max_pool1d(levels[-1].mT, 2).mT + F.avg_pool1d(levels[-1].mT, 2).mT)
        y = y + sum(level.repeat_interleave(2 ** i, dim=1) for i, level in enumerate(levels))
        gates = self.gate(y).softmax(-1)
        value, which = gates.topk(2, -1)
        kept = torch.zeros_like(gates).scatter_(-1, which, value / value.sum(-1, keepdim=True))
        y = torch.einsum("bte,edf,btd->btf", kept, self.experts, y)
        return y + torch.fft.fft2(x).real, kept.mean((0, 1)) * gates.mean((0, 1)) * 3


def hopping():
    return Hopping(), [torch.randn(2, 8, 8)]


class Volumes(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n, self.up = nn.Conv3d(1, 4, 3, padding=1), nn.InstanceNorm3d(4, affine=True), nn.ConvTranspose3d(4, 2, 2, 2)
        self.pool = nn.AvgPool3d(2)

    def forward(self, x):
        y = F.elu(self.n(self.a(x)))
        z = F.interpolate(self.pool(y), scale_factor=2, mode="trilinear", align_corners=False)
        return self.up(F.max_pool3d(y + z, 2)), F.local_response_norm(y, 3), F.interpolate(y, size=(3, 5, 7), mode="nearest"), F.softshrink(y) + F.celu(y) + F.rrelu(y) + F.hardshrink(y)


def volumes():
    return Volumes(), [torch.randn(2, 1, 6, 6, 6)]


class Policy(nn.Module):
    """An actor and a critic: advantages over a rollout, a clipped loss, a squashed Gaussian's log probability."""

    def __init__(self):
        super().__init__()
        self.body, self.mean, self.value, self.log_std = nn.Sequential(nn.Linear(6, 16), nn.Tanh()), nn.Linear(16, 2), nn.Linear(16, 1), nn.Parameter(torch.zeros(2))

    def forward(self, states, actions, old, rewards, done):
        h = self.body(states)
        values = self.value(h).squeeze(-1)
        advantage, last = [], torch.zeros(states.shape[1])
        for t in reversed(range(states.shape[0] - 1)):
            delta = rewards[t] + 0.99 * values[t + 1] * (1 - done[t]) - values[t]
            last = delta + 0.99 * 0.95 * (1 - done[t]) * last
            advantage.insert(0, last)
        advantage = torch.stack(advantage).detach()
        d = torch.distributions.Normal(self.mean(h[:-1]), self.log_std.exp())
        logp = d.log_prob(actions).sum(-1) - torch.log1p(-torch.tanh(actions).pow(2) + 1e-6).sum(-1)
        ratio = torch.exp(logp - old)
        a = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean() + 0.5 * F.mse_loss(values[:-1], advantage + values[:-1].detach()) - 0.01 * d.entropy().mean()
        return loss, logp, advantage


def policy():
    return Policy(), [torch.randn(7, 3, 6), torch.randn(6, 3, 2), torch.randn(6, 3), torch.randn(6, 3), (torch.rand(6, 3) > 0.8).float()]


class Half(nn.Module):
    """bfloat16 throughout, a float norm within, softmax in float, a scale of another type."""

    def __init__(self):
        super().__init__()
        self.q, self.o = nn.Linear(32, 96, dtype=torch.bfloat16), nn.Linear(32, 32, dtype=torch.bfloat16)
        self.w = nn.Parameter(torch.ones(32))

    def forward(self, x, cos, sin):
        h = x.float()
        h = (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w).to(x.dtype)
        q, k, v = (t.unflatten(-1, (4, 8)).transpose(1, 2) for t in self.q(h).split(32, -1))
        turn = lambda t: (t * cos + torch.cat((-t[..., 4:], t[..., :4]), -1) * sin).to(x.dtype)
        s = (turn(q) @ turn(k).mT) * 8 ** -0.5
        s = s.float().masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), -math.inf).softmax(-1).to(v.dtype)
        return x + self.o((s @ v).transpose(1, 2).flatten(2))


def half_block():
    a = torch.outer(torch.arange(9), 10000 ** (-torch.arange(4) / 4)).repeat(1, 2)
    return Half(), [torch.randn(2, 9, 32).bfloat16(), a.cos().bfloat16(), a.sin().bfloat16()]


class Uniques(nn.Module):
    """What hangs on values: a set, a mask's elements, a word counted."""

    def forward(self, x, keep):
        return torch.unique(x), x[keep].sum(), keep.nonzero()


def uniques():
    return Uniques(), [torch.randint(0, 5, (12,)), torch.rand(12) > 0.5]


class NoisyTop(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 4)

    def forward(self, x):
        g = self.gate(x)
        return (g + torch.randn_like(g) * F.softplus(g)).softmax(-1), F.gumbel_softmax(g, hard=True)


def noisy_gate():
    return NoisyTop(), [torch.randn(5, 6)]
