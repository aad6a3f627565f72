"""ShuffleNet of three groups (Zhang et al. 2017)."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import Shuffled, conv

FULL = {"batch": 10, "image": 224, "groups": 3, "widths": [24, 240, 480, 960], "counts": [4, 8, 4], "classes": 1000}
SMALL = {"batch": 1, "image": 64, "groups": 3, "widths": [6, 24, 48, 96], "counts": [2, 3, 2], "classes": 5}


class Model(nn.Module):
    def __init__(self, groups, widths, counts, classes):
        super().__init__()
        parts = [conv(3, widths[0], 3, 2), nn.MaxPool2d(3, 2, 1)]
        for given, wanted, count in zip(widths, widths[1:], counts):
            parts += [Shuffled(given, wanted, groups, 2), *(Shuffled(wanted, wanted, groups) for _ in range(count - 1))]
        self.features, self.classify = nn.Sequential(*parts), nn.Linear(widths[-1], classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def get_init_inputs(size=FULL):
    return [size["groups"], size["widths"], size["counts"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
