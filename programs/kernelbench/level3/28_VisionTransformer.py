"""A vision transformer (Dosovitskiy et al. 2020), of PyTorch's own layers."""
import torch
from torch import nn

FULL = {"batch": 2, "image": 224, "patch": 16, "width": 512, "depth": 6, "heads": 8, "hidden": 2048, "classes": 10}
SMALL = {"batch": 1, "image": 16, "patch": 4, "width": 16, "depth": 2, "heads": 2, "hidden": 32, "classes": 5}


class Model(nn.Module):
    def __init__(self, image, patch, width, depth, heads, hidden, classes):
        super().__init__()
        self.patch, count = patch, (image // patch) ** 2
        self.embed = nn.Linear(3 * patch ** 2, width)
        self.first, self.place = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, count + 1, width))
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, heads, hidden, 0.0), depth)
        self.classify = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, classes))

    def forward(self, x):
        x = x.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), self.embed(x)], 1) + self.place
        return self.classify(self.body(x)[:, 0])


def get_init_inputs(size=FULL):
    return [size["image"], size["patch"], size["width"], size["depth"], size["heads"], size["hidden"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
