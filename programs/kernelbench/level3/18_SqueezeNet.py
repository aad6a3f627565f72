"""SqueezeNet (Iandola et al. 2016)."""
import torch
from torch import nn

from parts import Fire

FULL = {"batch": 64, "image": 512, "divide": 1, "classes": 1000}
SMALL = {"batch": 1, "image": 64, "divide": 8, "classes": 5}


class Model(nn.Module):
    def __init__(self, divide, classes):
        super().__init__()
        given = 96 // divide
        pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        parts = [nn.Conv2d(3, given, 7, 2), nn.ReLU(), pool]
        for i, squeezed in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
            squeezed //= divide
            parts.append(Fire(given, squeezed, 4 * squeezed, 4 * squeezed))
            given = 8 * squeezed
            if i in (2, 6):
                parts.append(pool)
        self.net = nn.Sequential(*parts, nn.Dropout(0.0), nn.Conv2d(given, classes, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))

    def forward(self, x):
        return self.net(x).flatten(1)


def get_init_inputs(size=FULL):
    return [size["divide"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
