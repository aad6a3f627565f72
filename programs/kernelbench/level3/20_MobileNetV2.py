"""MobileNetV2 (Sandler et al. 2018)."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import Inverted, conv

FULL = {"batch": 10, "image": 224, "divide": 1, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "divide": 8, "classes": 5}


class Model(nn.Module):
    def __init__(self, divide, classes):
        super().__init__()
        given = 32 // divide
        parts = [conv(3, given, 3, 2, act=nn.ReLU6)]
        for expand, channels, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for i in range(count):
                parts.append(Inverted(given, channels // divide, 3, stride if i == 0 else 1, expand))
                given = channels // divide
        last = 1280 // divide
        self.features, self.classify = nn.Sequential(*parts, conv(given, last, 1, act=nn.ReLU6)), nn.Linear(last, classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def get_init_inputs(size=FULL):
    return [size["divide"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
