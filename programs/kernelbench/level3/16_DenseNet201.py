"""DenseNet-201 (Huang et al. 2016), whose layers are single 3x3 convolutions."""
import torch

from parts import DenseNet

FULL = {"batch": 10, "image": 224, "counts": [6, 12, 48, 32], "growth": 32, "classes": 10}
SMALL = {"batch": 1, "image": 32, "counts": [2, 3, 6, 4], "growth": 4, "classes": 5}


class Model(DenseNet):
    pass


def get_init_inputs(size=FULL):
    return [size["counts"], size["growth"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
