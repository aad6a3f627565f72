"""MobileNet (Howard et al. 2017): each convolution is one channel by channel and one of 1x1."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import conv

FULL = {"batch": 10, "image": 224, "width": 32, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "width": 4, "classes": 5}


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        parts, given = [conv(3, width, 3, 2)], width
        for wanted, stride in ((2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), *[(16, 1)] * 5, (32, 2), (32, 1)):
            parts += [conv(given, given, 3, stride, given), conv(given, wanted * width, 1)]
            given = wanted * width
        self.features, self.classify = nn.Sequential(*parts), nn.Linear(given, classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def get_init_inputs(size=FULL):
    return [size["width"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
