"""LeNet-5 (LeCun et al. 1998), with ReLU and max pooling."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import layers

FULL = {"batch": 4096, "image": 32, "classes": 20}
SMALL = {"batch": 2, "image": 32, "classes": 4}


class Model(nn.Module):
    def __init__(self, image, classes):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.dense = layers(16 * ((image - 4) // 2 // 2 - 2) ** 2, 120, 84, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.dense(x.flatten(1))


def get_init_inputs(size=FULL):
    return [size["image"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 1, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
