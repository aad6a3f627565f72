"""A transformer over patches that a convolution makes and one dense layer mixes."""
import torch
from torch import nn

FULL = {"batch": 10, "image": 32, "patch": 4, "width": 128, "depth": 6, "heads": 4, "classes": 1000}
SMALL = {"batch": 1, "image": 8, "patch": 4, "width": 16, "depth": 2, "heads": 2, "classes": 5}


class Model(nn.Module):
    def __init__(self, image, patch, width, depth, heads, classes):
        super().__init__()
        self.embed, self.mix = nn.Conv2d(3, width, patch, patch), nn.Linear(width * (image // patch) ** 2, width)
        self.first = nn.Parameter(torch.randn(1, 1, width))
        self.body = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True) for _ in range(depth))
        self.classify = nn.Linear(width, classes)

    def forward(self, x):
        x = self.mix(self.embed(x).flatten(1))[:, None]
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1)
        for layer in self.body:
            x = layer(x)
        return self.classify(x[:, 0])


def get_init_inputs(size=FULL):
    return [size["image"], size["patch"], size["width"], size["depth"], size["heads"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
