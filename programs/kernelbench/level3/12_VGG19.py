"""VGG-19 (Simonyan and Zisserman 2014)."""
import torch

from parts import VGG

FULL = {"batch": 10, "counts": [2, 2, 4, 4, 4], "width": 64, "image": 224, "hidden": 4096, "classes": 1000}
SMALL = {"batch": 1, "counts": [2, 2, 4, 4, 4], "width": 2, "image": 32, "hidden": 16, "classes": 5}


class Model(VGG):
    pass


def get_init_inputs(size=FULL):
    return [size["counts"], size["width"], size["image"], size["hidden"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
