"""A RegNet (Radosavovic et al. 2020): stages of grouped bottlenecks."""
import torch
from torch import nn

from parts import bottleneck, conv

FULL = {"batch": 8, "image": 224, "widths": [64, 128, 256], "counts": [2, 2, 2], "group": 32, "classes": 10}
SMALL = {"batch": 1, "image": 32, "widths": [8, 16, 24], "counts": [1, 2, 1], "group": 4, "classes": 5}


class Model(nn.Module):
    def __init__(self, widths, counts, group, classes):
        super().__init__()
        parts, given = [conv(3, widths[0] // 2, 3, 2)], widths[0] // 2
        for width, count in zip(widths, counts):
            for i in range(count):
                parts.append(bottleneck(given, width, 2 if i == 0 else 1, width, width // group))
                given = width
        self.features, self.classify = nn.Sequential(*parts), nn.Linear(given, classes)

    def forward(self, x):
        return self.classify(self.features(x).mean((2, 3)))


def get_init_inputs(size=FULL):
    return [size["widths"], size["counts"], size["group"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
