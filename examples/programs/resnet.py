"""A stage of ResNet-50: bottleneck blocks, the first of which halves the image; and all of its stages."""
import functools

import torch
from torch import nn
from torch.nn import functional as F


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.shortcut = None
        if stride != 1 or channels != 4 * width:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + (x if self.shortcut is None else self.shortcut(x)))


class Model(nn.Module):
    def __init__(self, channels, width, blocks):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 7, 2, 3, bias=False), nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(*(Bottleneck(channels if i == 0 else 4 * width, width, 2 if i == 0 else 1) for i in range(blocks)))
        self.head = nn.Linear(4 * width, 10)

    def forward(self, x):
        return self.head(torch.flatten(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1), 1))


def get_inputs():
    return [torch.randn(2, 3, 64, 64)]


def get_init_inputs():
    return [32, 16, 2]


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        blocks, channels = [], 64
        for stage, count in enumerate((3, 4, 6, 3)):
            for i in range(count):
                blocks.append(Bottleneck(channels, 64 << stage, 2 if i == 0 and stage > 0 else 1))
                channels = 4 * (64 << stage)
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(channels, 1000)

    forward = Model.forward


def at_full_size(batch, dtype):
    torch.manual_seed(0)
    return ResNet50().to(dtype).eval(), [torch.randn(batch, 3, 224, 224, dtype=dtype)]


# hone optimize examples/programs/resnet.py:whole_1_bf16, …
globals().update({f"{phase}_{batch}_{name}": functools.partial(at_full_size, batch, dtype) for phase in ("whole",)
                  for batch in (1, 16) for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32))})
