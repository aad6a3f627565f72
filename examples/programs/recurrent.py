"""A recurrent language model: an embedding, LSTM and GRU layers, a head. Its loops over time are PyTorch's."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(2 * width, width, batch_first=True)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids):
        y, _ = self.lstm(self.words(ids))
        y, last = self.gru(y)
        return self.head(self.norm(torch.nn.functional.gelu(y))), last


def get_inputs():
    return [torch.randint(0, 50, (2, 9))]


def get_init_inputs():
    return [50, 24]
