import math

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.fc = nn.Linear(width, 4 * width)
        self.proj = nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(64, 64)))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(c, dim=2)
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores = scores.masked_fill(self.mask[:t, :t] == 0, float("-inf"))
        a = (self.dropout(F.softmax(scores, dim=-1)) @ v).transpose(1, 2).contiguous().view(b, t, c)
        x = x + self.dropout(self.out(a))
        return x + self.dropout(self.proj(F.gelu(self.fc(self.ln2(x)), approximate="tanh")))


class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(100, 48), nn.Embedding(64, 48)
        self.blocks = nn.ModuleList(Block(48, 4) for _ in range(layers))
        self.norm = nn.LayerNorm(48)
        self.head = nn.Linear(48, 100, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def get_inputs():
    return [torch.randint(0, 100, (2, 40))]


def get_init_inputs():
    return [2]
