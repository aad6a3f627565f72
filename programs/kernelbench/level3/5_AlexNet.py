"""AlexNet (Krizhevsky et al. 2012), in one tower and without its normalisation."""
import torch
from torch import nn

FULL = {"batch": 1024, "image": 224, "width": 32, "hidden": 4096, "classes": 1000}
SMALL = {"batch": 2, "image": 67, "width": 2, "hidden": 24, "classes": 5}


class Model(nn.Module):
    def __init__(self, image, width, hidden, classes):
        super().__init__()
        c = [3 * width, 8 * width, 12 * width, 12 * width, 8 * width]
        pool = nn.MaxPool2d(3, 2)
        self.features = nn.Sequential(nn.Conv2d(3, c[0], 11, 4, 2), nn.ReLU(), pool, nn.Conv2d(c[0], c[1], 5, padding=2), nn.ReLU(), pool,
                                      nn.Conv2d(c[1], c[2], 3, padding=1), nn.ReLU(), nn.Conv2d(c[2], c[3], 3, padding=1), nn.ReLU(),
                                      nn.Conv2d(c[3], c[4], 3, padding=1), nn.ReLU(), pool)
        side = (image - 7) // 4 + 1
        for _ in range(3):
            side = (side - 3) // 2 + 1
        self.classify = nn.Sequential(nn.Linear(c[4] * side ** 2, hidden), nn.ReLU(), nn.Dropout(0.0), nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(0.0),
                                      nn.Linear(hidden, classes))

    def forward(self, x):
        return self.classify(self.features(x).flatten(1))


def get_init_inputs(size=FULL):
    return [size["image"], size["width"], size["hidden"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
