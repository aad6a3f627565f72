"""GoogLeNet (Szegedy et al. 2014), without its side classifiers and its normalisation."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import Inception

FULL = {"batch": 10, "image": 224, "divide": 1, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "divide": 8, "classes": 5}


TABLE = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None, (192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
         (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128), None, (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]


class Model(nn.Module):
    def __init__(self, divide, classes):
        super().__init__()
        a, given = 64 // divide, 192 // divide
        parts = [nn.Conv2d(3, a, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.Conv2d(a, a, 1), nn.ReLU(), nn.Conv2d(a, given, 3, padding=1), nn.ReLU(),
                 nn.MaxPool2d(3, 2, 1)]
        for row in TABLE:
            if row is None:
                parts.append(nn.MaxPool2d(3, 2, 1))
                continue
            one, reduce3, three, reduce5, five, pooled = (n // divide for n in row)
            parts.append(Inception(given, one, reduce3, three, reduce5, five, pooled))
            given = one + three + five + pooled
        self.features, self.classify = nn.Sequential(*parts), nn.Linear(given, classes)

    def forward(self, x):
        return self.classify(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def get_init_inputs(size=FULL):
    return [size["divide"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
