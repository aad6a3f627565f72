"""A U-Net (Ronneberger et al. 2015) whose activation is softmax along the rows."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import conv

FULL = {"batch": 8, "given": 8, "wanted": 4, "height": 64, "width": 512, "features": 64}
SMALL = {"batch": 1, "given": 3, "wanted": 2, "height": 16, "width": 32, "features": 4}


def double(given, wanted):
    act = lambda: nn.Softmax(dim=-1)
    return nn.Sequential(conv(given, wanted, act=act), conv(wanted, wanted, act=act))


class Model(nn.Module):
    def __init__(self, given, wanted, features):
        super().__init__()
        widths = [features * 2 ** i for i in range(5)]
        self.down = nn.ModuleList(double(a, b) for a, b in zip([given, *widths], widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(double(b, a) for a, b in zip(widths, widths[1:]))
        self.out = nn.Conv2d(features, wanted, 1)

    def forward(self, x):
        kept = []
        for part in self.down:
            x = part(F.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for up, join, left in zip(reversed(self.up), reversed(self.join), reversed(kept[:-1])):
            x = join(torch.cat([up(x), left], 1))
        return self.out(x)


def get_init_inputs(size=FULL):
    return [size["given"], size["wanted"], size["features"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["given"], size["height"], size["width"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
