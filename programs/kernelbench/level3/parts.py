"""What several of the programs beside this file are built of. Each is written after the paper that its own docstring names."""
import math

import torch
from torch import nn
from torch.nn import functional as F


def layers(*widths):
    """Linear layers, with ReLU between them."""
    parts = []
    for a, b in zip(widths, widths[1:]):
        parts += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def conv(given, wanted, kernel=3, stride=1, groups=1, act=nn.ReLU):
    """A convolution that keeps the image's size (over the stride), batch norm, and an activation or none."""
    parts = [nn.Conv2d(given, wanted, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(wanted)]
    return nn.Sequential(*parts, *([act()] if act else []))


class Residual(nn.Module):
    """ReLU(body(x) + x), with a projection of x where shapes differ."""

    def __init__(self, given, wanted, stride, body):
        super().__init__()
        self.body = body
        self.skip = nn.Identity() if given == wanted and stride == 1 else conv(given, wanted, 1, stride, act=None)

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


def basic_block(given, wanted, stride=1):
    return Residual(given, wanted, stride, nn.Sequential(conv(given, wanted, 3, stride), conv(wanted, wanted, act=None)))


def bottleneck(given, wanted, stride=1, inner=None, groups=1):
    inner = inner or wanted // 4
    return Residual(given, wanted, stride, nn.Sequential(conv(given, inner, 1), conv(inner, inner, 3, stride, groups), conv(inner, wanted, 1, act=None)))


class ResNet(nn.Module):
    """He et al. 2015: a stem, four stages of blocks each half as large and twice as wide, the mean, a classifier."""

    def __init__(self, block, counts, width, expansion, classes):
        super().__init__()
        self.stem = nn.Sequential(conv(3, width, 7, 2), nn.MaxPool2d(3, 2, 1))
        blocks, given = [], width
        for stage, count in enumerate(counts):
            wanted = width * 2 ** stage * expansion
            for i in range(count):
                blocks.append(block(given, wanted, 2 if stage > 0 and i == 0 else 1))
                given = wanted
        self.blocks, self.classify = nn.Sequential(*blocks), nn.Linear(given, classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1).flatten(1))


class VGG(nn.Module):
    """Simonyan and Zisserman 2014: 3x3 convolutions, the image halved after each group of them, three dense layers."""

    def __init__(self, counts, width, image, hidden, classes):
        super().__init__()
        parts, given = [], 3
        for stage, count in enumerate(counts):
            wanted = width * min(2 ** stage, 8)
            for _ in range(count):
                parts += [nn.Conv2d(given, wanted, 3, padding=1), nn.ReLU()]
                given = wanted
            parts.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*parts)
        self.classify = layers(given * (image // 2 ** len(counts)) ** 2, hidden, hidden, classes)

    def forward(self, x):
        return self.classify(self.features(x).flatten(1))


class Inception(nn.Module):
    """Szegedy et al. 2014: four ways beside each other, concatenated."""

    def __init__(self, given, one, reduce3, three, reduce5, five, pooled):
        super().__init__()
        self.one = nn.Conv2d(given, one, 1)
        self.three = nn.Sequential(nn.Conv2d(given, reduce3, 1), nn.Conv2d(reduce3, three, 3, padding=1))
        self.five = nn.Sequential(nn.Conv2d(given, reduce5, 1), nn.Conv2d(reduce5, five, 5, padding=2))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(given, pooled, 1))

    def forward(self, x):
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


def before(given, wanted, kernel):
    """Batch norm and ReLU before the convolution, as DenseNet has them."""
    return nn.Sequential(nn.BatchNorm2d(given), nn.ReLU(), nn.Conv2d(given, wanted, kernel, padding=kernel // 2, bias=False))


class DenseBlock(nn.Module):
    """Huang et al. 2016: each layer reads what all before it made."""

    def __init__(self, count, given, growth):
        super().__init__()
        self.parts = nn.ModuleList(before(given + i * growth, growth, 3) for i in range(count))

    def forward(self, x):
        for part in self.parts:
            x = torch.cat([x, part(x)], 1)
        return x


def transition(given, wanted):
    return nn.Sequential(before(given, wanted, 1), nn.AvgPool2d(2))


class DenseNet(nn.Module):
    def __init__(self, counts, growth, classes):
        super().__init__()
        width = 2 * growth
        parts = [conv(3, width, 7, 2), nn.MaxPool2d(3, 2, 1)]
        for i, count in enumerate(counts):
            parts.append(DenseBlock(count, width, growth))
            width += count * growth
            if i + 1 < len(counts):
                parts.append(transition(width, width // 2))
                width //= 2
        self.features, self.classify = nn.Sequential(*parts, nn.BatchNorm2d(width), nn.ReLU()), nn.Linear(width, classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class Fire(nn.Module):
    """Iandola et al. 2016: squeezed by 1x1, expanded by 1x1 and 3x3 beside each other."""

    def __init__(self, given, squeezed, one, three):
        super().__init__()
        self.squeeze, self.one, self.three = nn.Conv2d(given, squeezed, 1), nn.Conv2d(squeezed, one, 1), nn.Conv2d(squeezed, three, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


class Excite(nn.Module):
    """Hu et al. 2017: channels weighed by what the whole image says."""

    def __init__(self, width, inner):
        super().__init__()
        self.down, self.up = nn.Conv2d(width, inner, 1), nn.Conv2d(inner, width, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.up(F.silu(self.down(F.adaptive_avg_pool2d(x, 1)))))


class Inverted(nn.Module):
    """Sandler et al. 2018: widened, convolved channel by channel, narrowed with no activation; the input added where shapes agree."""

    def __init__(self, given, wanted, kernel, stride, expand, act=nn.ReLU6, excite=False):
        super().__init__()
        inner = given * expand
        parts = [conv(given, inner, 1, act=act)] if expand > 1 else []
        parts.append(conv(inner, inner, kernel, stride, inner, act))
        if excite:
            parts.append(Excite(inner, max(1, given // 4)))
        self.body, self.add = nn.Sequential(*parts, conv(inner, wanted, 1, act=None)), given == wanted and stride == 1

    def forward(self, x):
        return x + self.body(x) if self.add else self.body(x)


class EfficientNet(nn.Module):
    """Tan and Le 2019: one table of stages, made wider and deeper together."""

    STAGES = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]

    def __init__(self, wider, deeper, classes):
        super().__init__()
        width = lambda n: max(8, int(n * wider + 4) // 8 * 8)
        given = width(32)
        parts = [conv(3, given, 3, 2, act=nn.SiLU)]
        for expand, channels, count, stride, kernel in self.STAGES:
            for i in range(math.ceil(count * deeper)):
                parts.append(Inverted(given, width(channels), kernel, stride if i == 0 else 1, expand, nn.SiLU, excite=True))
                given = width(channels)
        self.features = nn.Sequential(*parts, conv(given, width(1280), 1, act=nn.SiLU))
        self.classify = nn.Linear(width(1280), classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class Shuffled(nn.Module):
    """Zhang et al. 2017: grouped 1x1 convolutions, whose groups are mixed between them."""

    def __init__(self, given, wanted, groups, stride=1):
        super().__init__()
        inner = wanted // 4
        own = wanted - given if stride == 2 else wanted
        self.groups, self.stride = groups, stride
        self.first, self.middle = conv(given, inner, 1, groups=groups), conv(inner, inner, 3, stride, inner, act=None)
        self.last = conv(inner, own, 1, groups=groups, act=None)
        self.skip = nn.Identity() if given == wanted else conv(given, wanted, 1, act=None)

    def forward(self, x):
        y = self.first(x)
        n, c, h, w = y.shape
        y = y.view(n, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(n, c, h, w)
        y = self.last(self.middle(y))
        return F.relu(torch.cat([F.avg_pool2d(x, 3, 2, 1), y], 1) if self.stride == 2 else y + self.skip(x))


class CausalAttention(nn.Module):
    """Vaswani et al. 2017, written out: each position looks at those up to it. `relu` in softmax's place: Wortsman et al. 2023."""

    def __init__(self, width, heads, longest, relu=False):
        super().__init__()
        self.heads, self.relu = heads, relu
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("seen", torch.ones(longest, longest).tril().bool())

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (y.view(n, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(width, 2))
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~self.seen[:t, :t], -math.inf)
        scores = F.relu(scores) if self.relu else scores.softmax(-1)
        y = (scores @ v).transpose(1, 2).reshape(n, t, width)
        return y if self.relu else self.out(y)


class Recurrent(nn.Module):
    """Layers of an LSTM (Hochreiter and Schmidhuber 1997) or a GRU (Cho et al. 2014) from states that are given.
    `give`: "last" (a classifier reads the last step), "all", "hidden" or "cell"."""

    def __init__(self, kind, give, given, width, depth, classes=0, both=False):
        super().__init__()
        self.give, self.cells = give, kind is nn.LSTM
        self.net = kind(given, width, depth, batch_first=self.cells, bidirectional=both)
        self.classify = nn.Linear(width * (1 + both), classes) if classes else None

    def forward(self, x, *states):
        every, last = self.net(x, states if self.cells else states[0])
        if self.give == "last":
            return self.classify(every[:, -1])
        return every if self.give == "all" else last[self.give == "cell"] if self.cells else last


def chunked_scan(x, decay, b, c, chunk):
    """Dao and Gu 2024, the state space model y[t] = c[t] h[t], h[t] = exp(decay[t]) h[t-1] + b[t] x[t], by products within chunks
    and between them. x [n, t, h, p], decay [n, t, h], b and c [n, t, h, s]; gives y and the state after the last step."""
    x, decay, b, c = (z.unflatten(1, (-1, chunk)) for z in (x, decay, b, c))
    decay = decay.permute(0, 3, 1, 2)
    sums = decay.cumsum(-1)
    within = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, segment_sums(decay).exp(), x)
    states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, (sums[..., -1:] - sums).exp(), x)
    states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
    passed = torch.einsum("bhzc,bchpn->bzhpn", segment_sums(F.pad(sums[..., -1], (1, 0))).exp(), states)
    between = torch.einsum("bclhn,bchpn,bhcl->bclhp", c, passed[:, :-1], sums.exp())
    return (within + between).flatten(1, 2), passed[:, -1]


def segment_sums(x):
    """[..., t] to [..., t, t]: the sum of what lies between two positions, minus infinity above the diagonal."""
    sums = x.cumsum(-1)
    seen = torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool, device=x.device).tril()
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(~seen, -math.inf)


class NetVLAD(nn.Module):
    """Arandjelović et al. 2015: what lies between features and the clusters they are near, summed and normalised. Ghosts (Zhong et al. 2018)
    take features that belong to none."""

    def __init__(self, clusters, width, ghosts):
        super().__init__()
        self.clusters = clusters
        self.assign = nn.Parameter(torch.randn(width, clusters + ghosts) / math.sqrt(width))
        self.norm = nn.BatchNorm1d(clusters + ghosts)
        self.centres = nn.Parameter(torch.randn(1, width, clusters) / math.sqrt(width))

    def forward(self, x):
        n, count, width = x.shape
        near = self.norm(x.reshape(n * count, width) @ self.assign).softmax(-1)[:, :self.clusters].view(n, count, self.clusters)
        rest = (near.transpose(1, 2) @ x).transpose(1, 2) - near.sum(1, keepdim=True) * self.centres
        return F.normalize(F.normalize(rest).reshape(n, -1))


def windows(x, size):
    """[n, h, w, c] to [n * windows, size * size, c]"""
    n, h, w, c = x.shape
    return x.view(n, h // size, size, w // size, size, c).transpose(2, 3).reshape(-1, size * size, c)


def unwindowed(x, size, h, w):
    n = x.shape[0] // (h // size * (w // size))
    return x.view(n, h // size, w // size, size, size, -1).transpose(2, 3).reshape(n, h, w, -1)


class Merge(nn.Module):
    """Liu et al. 2021: four neighbours become one position of twice the width."""

    def __init__(self, width, first):
        super().__init__()
        self.norm, self.reduce, self.first = nn.LayerNorm(4 * width if first else 2 * width), nn.Linear(4 * width, 2 * width, bias=False), first

    def forward(self, x):
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.reduce(self.norm(x)) if self.first else self.norm(self.reduce(x))


class Swin(nn.Module):
    """Patches, stages of blocks (`block(width, heads, side, window, shift)`) with merging between them, the mean, a classifier."""

    def __init__(self, block, image, patch, width, counts, heads, window, classes, merge_first):
        super().__init__()
        self.embed, self.norm = nn.Conv2d(3, width, patch, patch), nn.LayerNorm(width)
        side, parts = image // patch, []
        for i, (count, head) in enumerate(zip(counts, heads)):
            here = min(window, side)
            parts += [block(width, head, side, here, here // 2 if j % 2 and here < side else 0) for j in range(count)]
            if i + 1 < len(counts):
                parts.append(Merge(width, merge_first))
                width, side = 2 * width, side // 2
        self.blocks, self.last, self.classify = nn.Sequential(*parts), nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.norm(self.embed(x).permute(0, 2, 3, 1))
        return self.classify(self.last(self.blocks(x)).flatten(1, 2).mean(1))
