"""ResNet-101 (He et al. 2015)."""
import torch

from parts import ResNet, bottleneck

FULL = {"batch": 10, "image": 224, "counts": [3, 4, 23, 3], "width": 64, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "counts": [2, 2, 3, 2], "width": 4, "classes": 5}


class Model(ResNet):
    def __init__(self, counts, width, classes):
        super().__init__(bottleneck, counts, width, 4, classes)


def get_init_inputs(size=FULL):
    return [size["counts"], size["width"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
